"""What a list-append history shows (Kingsbury and Alvaro, "Elle", VLDB 2020, sections 3 and 4).

The order of a key's versions is the longest list that an ok transaction read (of equally long ones
the last in the history). An element that no such list has comes after them all, if its transaction
committed. Committed are ok transactions, and info ones of which an ok transaction read an element.
Elements of others, and such as nobody appended, are no versions: edges lead past them.
"""

from collections import defaultdict

from edn import shown
from rules import Edge, Rules, fact
from session_rules import session_facts

# What a read of a key shows that the key never was.
IMPOSSIBLE_STATES = {"G1a", "garbage-read", "duplicate-elements", "internal", "future-read", "incompatible-order",
                     "cyclic-versions"}


class ListRules(Rules):
    """Edges and facts of a list-append history."""

    def __init__(self, history):
        super().__init__(history)
        self.orders = self.find_orders()
        self.committed = self.find_committed()
        self.chains = {key: [value for value in order if self.is_committed(key, value)]
                       for key, order in self.orders.items()}
        self.unread = self.find_unread()
        self.edges = self.required = set(self.find_edges())
        direct = set(self.find_facts())
        self.facts = self.required_facts = direct | {
            fact._replace(type="non-linearizable-key") for fact in direct if fact.type in IMPOSSIBLE_STATES}

    def find_orders(self):
        longest = {}
        for txn in self.ok():
            for read in txn.reads():
                if len(read.value) >= len(longest.get(read.key, ())):
                    longest[read.key] = read.value
        return {key: () if key in self.ambiguous else tuple(dict.fromkeys(value))
                for key, value in longest.items()}

    def find_committed(self):
        committed = {txn.index for txn in self.ok()}
        for txn in self.ok():
            for read in txn.reads():
                owners = [self.owner(read.key, value) for value in read.value]
                if read.key not in self.ambiguous:
                    committed |= {owner.index for owner in owners if owner and owner.status == "info"}
        return committed

    def is_committed(self, key, value):
        owner = self.owner(key, value)
        return owner is not None and owner.index in self.committed

    def find_unread(self):
        """Key -> elements of committed transactions outside its order."""
        unread = defaultdict(list)
        for key, value in self.owners:
            is_read = value in self.orders.get(key, ())
            if key not in self.ambiguous and not is_read and self.is_committed(key, value):
                unread[key].append(value)
        return unread

    def find_edges(self):
        for key in {key for key, _ in self.owners} - self.ambiguous:
            yield from self.write_edges(key)
        for txn in self.history.transactions:
            for read in txn.reads() if txn.index in self.committed else ():
                if read.key not in self.ambiguous:
                    yield from self.read_edges(txn, read)

    def edge(self, kind, key, value, next_value):
        """From the owner of one element to the owner of another."""
        start, end = self.owner(key, value).index, self.owner(key, next_value).index
        if start != end:
            yield Edge(start, end, kind, shown(key), shown(value), shown(next_value))

    def write_edges(self, key):
        chain = self.chains.get(key, [])
        for value, next_value in zip(chain, chain[1:]):
            yield from self.edge("ww", key, value, next_value)
        for next_value in self.unread[key] if chain else ():
            yield from self.edge("ww", key, chain[-1], next_value)

    def read_edges(self, txn, read):
        """Its last element that is no repetition is the version it saw."""
        last = list(dict.fromkeys(read.value))[-1] if read.value else None
        owner = self.owner(read.key, last) if read.value else None
        for value in {last, *read.value[-1:]} - {None}:
            writer = self.owner(read.key, value)
            if writer not in (None, txn) and writer.index in self.committed:
                yield Edge(writer.index, txn.index, "wr", shown(read.key), shown(value))
        if owner is txn:
            return
        for value in self.next_values(read):
            end = self.owner(read.key, value).index
            if end != txn.index:
                yield Edge(txn.index, end, "rw", shown(read.key),
                           shown(last) if owner else None, shown(value))

    def place(self, read):
        """Number of versions that the read saw; None where its last element has no place."""
        order = self.orders.get(read.key, ())
        seen = tuple(dict.fromkeys(read.value))
        if seen == order[:len(seen)]:
            return len(seen)
        return order.index(seen[-1]) + 1 if seen[-1] in order else None

    def next_values(self, read):
        """The first committed version that the read did not see: one, or any of the unread ones."""
        place = self.place(read)
        if place is None:
            return []
        rest = [value for value in self.orders.get(read.key, ())[place:]
                if self.is_committed(read.key, value) and value not in read.value]
        return rest[:1] or [value for value in self.unread[read.key] if value not in read.value]

    def find_facts(self):
        updates = defaultdict(list)
        for txn in self.ok():
            yield from self.own_facts(txn)
            for read in txn.reads():
                if read.key not in self.ambiguous:
                    yield from self.read_facts(txn, read)
            for key, value in first_reads_of_writers(txn):
                updates[key, value].append(txn)
        for (key, value), group in updates.items():
            for second in group if key not in self.ambiguous else ():
                yield from (fact("lost-update", [first, second], key, value)
                            for first in group if first is not second)
        yield from self.order_facts()
        yield from session_facts(self)

    def read_facts(self, txn, read):
        """What a read must not show of others."""
        key, values = read.key, read.value
        for value in values:
            owner = self.owner(key, value)
            if owner is None:
                yield fact("garbage-read", [txn], key, [value])
            elif owner.status == "fail":
                yield fact("G1a", [txn, owner], key, [value])
            if values.count(value) > 1:
                yield fact("duplicate-elements", [txn], key, [value])
        owner = self.owner(key, values[-1]) if values else None
        if owner and owner is not txn and self.is_intermediate(owner, key, values[-1]):
            yield fact("G1b", [txn, owner], key, [values[-1]])

    def own_facts(self, txn):
        """internal and future-read: reads against the transaction's own state of the key, as far as
        it is known: all of it after a read, its end after appends alone."""
        for key in {op.key for op in txn.micro_ops}:
            known, is_whole = (), False
            for at, op in enumerate(txn.micro_ops):
                if op.key != key:
                    continue
                if op.function != "r":
                    known += (op.value,)
                elif op.value is not None:
                    yield from self.own_read_facts(txn, at, op, known, is_whole)
                    known, is_whole = op.value, True

    def own_read_facts(self, txn, at, read, known, is_whole):
        agrees = read.value == known if is_whole else read.value[len(read.value) - len(known):] == known
        if not agrees or len(read.value) < len(known):
            yield fact("internal", [txn], read.key, read.value)
        for later in txn.micro_ops[at:]:
            is_own = self.owner(read.key, later.value) is txn if later.function != "r" else False
            if is_own and later.key == read.key and later.value in read.value:
                yield fact("future-read", [txn], read.key, [later.value])

    def order_facts(self):
        """What the lists of a key show together."""
        reads = defaultdict(list)
        for txn in self.ok():
            for read in txn.reads():
                reads[read.key].append((txn, read.value))
        for key in reads.keys() - self.ambiguous:
            for txn, values in reads[key]:
                if any(diverge(values, other) for _, other in reads[key]):
                    yield fact("incompatible-order", [txn], key, values)
            yield from self.dirty_updates(key)
            yield from self.reversals(key)

    def dirty_updates(self, key):
        """A committed append upon one that failed."""
        order = self.orders[key]
        owners = [(value, self.owner(key, value)) for value in order]
        for at, (dirty, failed) in enumerate(owners):
            for value, txn in owners[at + 1:] if failed and failed.status == "fail" else ():
                if txn and txn.status == "ok":
                    yield fact("dirty-update", [failed, txn], key, [dirty, value])

    def reversals(self, key):
        """cyclic-versions: the order has two appends of one transaction the wrong way round."""
        order = self.orders[key]
        for txn in self.history.transactions:
            values = [op.value for op in txn.writes(key)] if txn.index in self.committed else []
            for at, later in enumerate(values):
                for earlier in values[:at] if later in order else ():
                    if earlier not in order[:order.index(later)]:
                        yield fact("cyclic-versions", [txn], key, [earlier, later])


def diverge(one, other):
    shorter = min(len(one), len(other))
    return one[:shorter] != other[:shorter]


def first_reads_of_writers(txn):
    """Key and list of the first read of each key to which the transaction appended afterwards. As in
    Elle, the list may hold an append of its own; then whoever read the same has a G1b besides."""
    for key in {op.key for op in txn.micro_ops}:
        functions = [op.function for op in txn.micro_ops if op.key == key]
        if "append" in functions[functions.index("r"):] if "r" in functions else False:
            for read in txn.reads(key)[:1]:
                yield key, read.value
