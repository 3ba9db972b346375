"""What a rw-register history shows (Kingsbury and Alvaro, "Elle", VLDB 2020, section 5.2).

Registers do not show the order of their versions. Nil comes before all others; the rest the user
vouches for by options: within a transaction, what it read before what it wrote (wfr-keys); what a
process touched before what it touched later (sequential-keys); what a transaction touched before
what one touched that began after its completion (linearizable-keys). "Before" is transitive. A key
with a cycle keeps only nil in order.

Elle compares neighbours only: of those that touched the key before, the ones with no other in
between. Where one in between read one version and wrote another, that says less than the promise
does. What neighbours show, a verdict has to know (required); what the whole promise shows, it may
claim (edges, facts).
"""

from collections import defaultdict

from cycles import adjacency, reachable
from edn import NIL, shown
from rules import Edge, Rules, fact

OPTIONS = ("wfr-keys", "sequential-keys", "linearizable-keys")


class Touch:
    """What a transaction did to a key, seen from outside; None where it did not."""

    def __init__(self, txn, key):
        ops = [op for op in txn.micro_ops if op.key == key and op.value is not None]
        writes = [op.value for op in ops if op.function == "w"]
        self.read = ops[0].value if ops and ops[0].function == "r" else None
        self.write = writes[-1] if writes else None
        self.first = self.write if self.read is None else self.read
        self.last = self.read if self.write is None else self.write


class Order:
    """Which versions of a key come after each. `neighbours`: as Elle sees it."""

    def __init__(self, rules, key, neighbours):
        self.rules, self.key, self.neighbours = rules, key, neighbours
        self.values = {value for owned, value in rules.owners if owned == key} | {NIL}
        nil_first = {(NIL, value) for value in self.values - {NIL}}
        successors = adjacency(set(self.inferred()) | nil_first)
        self.closed = {value: reachable(successors, value) for value in self.values}
        self.cyclic = {value for value in self.values if value in self.closed[value]}
        self.after = {NIL: self.values - {NIL}} if self.cyclic else self.closed

    def inferred(self):
        """Pairs of versions, one before the other."""
        for first, second in self.pairs():
            if first != second and {first, second} <= self.values:
                yield first, second

    def pairs(self):
        options = self.rules.options
        for txn, touch in self.rules.touches[self.key]:
            if "wfr-keys" in options and None not in (touch.read, touch.write):
                yield touch.read, touch.write
            if "sequential-keys" in options:
                yield from ((version, touch.first) for version in self.before(txn, self.rules.in_session))
            if "linearizable-keys" in options:
                yield from ((version, touch.first) for version in self.before(txn, self.rules.in_time))

    def before(self, txn, precedes):
        """What those that precede `txn` left; of neighbours, only those with none in between."""
        found = [(other, touch.last) for other, touch in self.rules.touches[self.key]
                 if precedes(other, txn)]
        invoked = [other.invoked for other, _ in found if other.invoked is not None]
        latest = max(invoked, default=0) if self.neighbours else 0
        return [last for other, last in found if other.completed >= latest]

    def circles(self):
        """Sets of versions of which each comes before each other."""
        sets = {frozenset(other for other in self.closed[value] if value in self.closed[other])
                for value in self.cyclic}
        return [sorted(members, key=str) for members in sets]


class RegisterRules(Rules):
    """Edges and facts of a rw-register history, under some of OPTIONS."""

    def __init__(self, history, options=()):
        super().__init__(history)
        self.options = options
        self.committed = self.find_committed()
        self.touches = self.find_touches()
        orders = [{key: Order(self, key, neighbours) for key in self.touches}
                  for neighbours in (True, False)]
        self.required, whole = ({edge for order in by_key.values() for edge in self.find_edges(order)}
                                for by_key in orders)
        self.edges = self.required | whole
        self.required_facts, whole = (set(self.find_facts(by_key)) for by_key in orders)
        self.facts = self.required_facts | whole

    def find_committed(self):
        committed = {txn.index for txn in self.ok()}
        for txn in self.ok():
            for read in txn.reads():
                owner = self.owner(read.key, read.value)
                if owner and owner.status == "info" and read.key not in self.ambiguous:
                    committed.add(owner.index)
        return committed

    def find_touches(self):
        """Key -> transaction and touch, in order of invocation."""
        touches = defaultdict(list)
        for txn in self.history.transactions:
            for key in dict.fromkeys(op.key for op in txn.micro_ops):
                touch = Touch(txn, key)
                is_known = touch.first is not None and key not in self.ambiguous
                if txn.index in self.committed and is_known:
                    touches[key].append((txn, touch))
        return touches

    def find_edges(self, order):
        """wr from writer to reader; ww and rw wherever the version comes before the other."""
        key = order.key
        writers = {touch.write: txn for txn, touch in self.touches[key] if touch.write is not None}
        for txn, touch in self.touches[key]:
            if touch.read in writers and writers[touch.read] is not txn:
                yield Edge(writers[touch.read].index, txn.index, "wr", shown(key), shown(touch.read))
            for kind, value in (("ww", touch.write), ("rw", touch.read)):
                for later in order.after.get(value, ()):
                    end = writers.get(later)
                    if end not in (None, txn):
                        yield Edge(txn.index, end.index, kind, shown(key),
                                   None if value == NIL else shown(value), shown(later))

    def find_facts(self, orders):
        for txn in self.ok():
            yield from self.own_facts(txn)
        for key, touches in self.touches.items():
            yield from self.update_facts(key, [(txn, touch) for txn, touch in touches
                                               if txn.status == "ok"])
            for members in orders[key].circles():
                writers = [self.owner(key, value) for value in members]
                yield fact("cyclic-versions", [txn for txn in writers if txn], key, members)

    def own_facts(self, txn):
        """internal; of a read that agrees with nothing the transaction did, what others did."""
        known = {}
        for at, op in enumerate(txn.micro_ops):
            repeats = known.get(op.key) == op.value
            if op.function == "r" and op.value is not None and not repeats:
                if op.key in known:
                    yield fact("internal", [txn], op.key, [op.value])
                if op.value != NIL and op.key not in self.ambiguous:
                    yield from self.read_facts(txn, at, op)
            known[op.key] = op.value

    def read_facts(self, txn, at, read):
        key, value = read.key, read.value
        owner = self.owner(key, value)
        if owner is None:
            yield fact("garbage-read", [txn], key, [value])
        elif owner is txn:
            if any(op.value == value and op.function == "w" and op.key == key
                   for op in txn.micro_ops[at:]):
                yield fact("future-read", [txn], key, [value])
        elif owner.status == "fail":
            yield fact("G1a", [txn, owner], key, [value])
        elif self.is_intermediate(owner, key, value):
            yield fact("G1b", [txn, owner], key, [value])

    def update_facts(self, key, touches):
        """Those that wrote upon what they read: upon a failed write, or upon the same version."""
        updates = defaultdict(list)
        for txn, touch in touches:
            if None in (touch.read, touch.write) or touch.read == touch.write:
                continue
            updates[touch.read].append(txn)
            owner = self.owner(key, touch.read)
            if owner and owner.status == "fail":
                yield fact("dirty-update", [txn, owner], key, [touch.read])
        for value, group in updates.items():
            for second in group if value == NIL or self.owner(key, value) else ():
                yield from (fact("lost-update", [first, second], key, [value])
                            for first in group if first is not second)
