"""What the rules of both kinds of histories have in common: edges, facts, and session and real-time
order.

Edge and Fact are what a history shows; claims of a verdict are looked up among them. Keys and
values are in the form in which verdicts print them (edn.shown).
"""

from typing import NamedTuple

from edn import shown


class Edge(NamedTuple):
    """`start` comes before `end`: indexes of transactions. value, next_value: None where it has none."""
    start: int
    end: int
    kind: str
    key: object = None
    value: object = None
    next_value: object = None


class Fact(NamedTuple):
    """An anomaly that needs no cycle."""
    type: str
    operations: tuple
    key: object
    values: tuple


class Rules:
    """Base of the two kinds of rules. Theirs: committed (set of indexes); edges and facts, which a verdict
    may claim; required and required_facts, those of them that it has to know of."""

    def __init__(self, history):
        self.history = history
        self.owners, self.ambiguous = self.find_owners()

    def find_owners(self):
        """(key, value) -> transaction that wrote it: one that did not fail, where there is any.
        Keys for which two writes that did not fail have the same value tell nothing."""
        owners, ambiguous = {}, set()
        for txn in self.history.transactions:
            for op in txn.writes():
                owner = owners.setdefault((op.key, op.value), txn)
                if txn.status == "fail":
                    continue
                if owner.status == "fail":
                    owners[op.key, op.value] = txn
                elif owner is not txn or self.writes_twice(txn, op):
                    ambiguous.add(op.key)
        return owners, ambiguous

    @staticmethod
    def writes_twice(txn, op):
        return sum(other.value == op.value for other in txn.writes(op.key)) > 1

    def owner(self, key, value):
        """Transaction that wrote a value; None for one that nobody wrote."""
        return self.owners.get((key, value))

    def ok(self):
        return [txn for txn in self.history.transactions if txn.status == "ok"]

    def is_intermediate(self, txn, key, value):
        """Whether `txn` wrote to the key again after it wrote the value."""
        values = [op.value for op in txn.writes(key)]
        return value in values and values[-1] != value

    def in_session(self, first, second):
        return first.process == second.process and second.begins_after(first)

    @staticmethod
    def in_time(first, second):
        return second.begins_after(first)

    def order_edges(self, kind):
        """All pairs of committed transactions in session ("process") or "realtime" order."""
        after = self.in_session if kind == "process" else self.in_time
        members = [txn for txn in self.history.transactions if txn.index in self.committed]
        return {Edge(first.index, second.index, kind)
                for first in members for second in members if after(first, second)}


def fact(type_name, transactions, key, values):
    return Fact(type_name, tuple(txn.index for txn in transactions), shown(key),
                tuple(shown(value) for value in values))
