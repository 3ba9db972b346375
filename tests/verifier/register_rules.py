"""What a rw-register history shows (Kingsbury and Alvaro, "Elle", VLDB 2020, section 5.2).

Registers do not show the order of their versions. Nil comes before all others; the rest the user vouches for
by options: within a transaction, what it read before what it wrote (wfr-keys); what a process touched
before what it touched later (sequential-keys); what a transaction touched before what one touched that began after
its completion (linearizable-keys). "Before" is transitive. A key with a cycle keeps only nil in order.
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


class RegisterRules(Rules):
    """Edges and facts of a rw-register history, under some of OPTIONS."""

    def __init__(self, history, options=()):
        super().__init__(history)
        self.options = options
        self.committed = self.find_committed()
        self.touches = self.find_touches()
        self.before = {key: self.find_order(key) for key in self.touches}
        self.edges = {edge for key in self.touches for edge in self.find_edges(key)}
        self.facts = set(self.find_facts())

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

    def is_version(self, key, value):
        return value == NIL or self.owner(key, value) is not None

    def find_order(self, key):
        """Version -> all that come after it."""
        values = {value for owned, value in self.owners if owned == key} - {NIL}
        pairs = set(self.inferred(key)) | {(NIL, value) for value in values}
        successors = adjacency(pairs)
        after = {value: reachable(successors, value) for value in values | {NIL}}
        self.cyclic = getattr(self, "cyclic", {})
        self.cyclic[key] = {value for value in after if value in after[value]}
        return {NIL: values} if self.cyclic[key] else after

    def inferred(self, key):
        for first, second in self.inferred_pairs(key):
            is_known = self.is_version(key, first) and self.is_version(key, second)
            if first != second and is_known:
                yield first, second

    def inferred_pairs(self, key):
        touches = self.touches[key]
        for txn, touch in touches:
            if "wfr-keys" in self.options and None not in (touch.read, touch.write):
                yield touch.read, touch.write
            for earlier, before in touches:
                in_session = "sequential-keys" in self.options and self.in_session(earlier, txn)
                in_time = "linearizable-keys" in self.options and txn.begins_after(earlier)
                if in_session or in_time:
                    yield before.last, touch.first

    def find_edges(self, key):
        """wr from writer to reader; ww and rw wherever the version comes before the other."""
        writers = {touch.write: txn for txn, touch in self.touches[key] if touch.write is not None}
        for txn, touch in self.touches[key]:
            if touch.read in writers and writers[touch.read] is not txn:
                yield Edge(writers[touch.read].index, txn.index, "wr", shown(key), shown(touch.read))
            for kind, value in (("ww", touch.write), ("rw", touch.read)):
                for later in self.before[key].get(value, ()):
                    end = writers.get(later)
                    if end not in (None, txn):
                        yield Edge(txn.index, end.index, kind, shown(key),
                                   None if value == NIL else shown(value), shown(later))

    def find_facts(self):
        for txn in self.ok():
            yield from self.own_facts(txn)
        for key, touches in self.touches.items():
            yield from self.update_facts(key, [(txn, touch) for txn, touch in touches
                                               if txn.status == "ok"])
            if self.cyclic[key]:
                yield from self.version_cycles(key)

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
            for second in group if self.is_version(key, value) else ():
                yield from (fact("lost-update", [first, second], key, [value])
                            for first in group if first is not second)

    def version_cycles(self, key):
        """The sets of versions of which each comes before each other."""
        successors = adjacency(set(self.inferred(key)) | {
            (NIL, value) for owned, value in self.owners if owned == key})
        for value in self.cyclic[key]:
            members = {other for other in reachable(successors, value)
                       if value in reachable(successors, other)}
            yield fact("cyclic-versions", [], key, sorted(members, key=str))
