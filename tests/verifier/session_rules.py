"""What single keys of lists show of sessions and of real time (Terry et al., "Session guarantees
for weakly consistent replicated data", PDIS 1994; names of Bailis et al., VLDB 2013, appendix A).

    N-MR   a session reads an older version than it read before
    MYR    ... than it wrote before
    N-MW   a session's write comes before an earlier one of its own
    MRWD   a session's write comes before a version that it read before
    non-linearizable-key   a transaction sees or writes what comes before that which one that had completed
                           before its invocation saw or wrote
"""

from collections import defaultdict
from typing import NamedTuple

from rules import fact

BEHIND_ALL = float("inf")  # of elements that nobody read


class Touch(NamedTuple):
    """Places in the key's order: a version's at its number, a read of it half a step later. None: no such."""
    txn: object
    read: float
    first_write: float
    last_write: float

    def first(self):
        return self.first_write if self.read is None else self.read

    def last(self):
        known = [place for place in (self.read, self.last_write) if place is not None]
        return max(known, default=None)


def touch_of(rules, txn, key):
    """From outside: a read after the transaction's own append shows nothing of others."""
    order = rules.orders.get(key, ())
    writes = [order.index(op.value) + 1 if op.value in order else BEHIND_ALL for op in txn.writes(key)]
    first = next(op for op in txn.micro_ops if op.key == key)
    place = rules.place(first) if first.function == "r" and first.value is not None else None
    return Touch(txn, None if place is None else place + 0.5,
                 min(writes, default=None), max(writes, default=None))


def comes_before(place, other):
    return None not in (place, other) and place < other


def wrong_in_session(before, after):
    """Names of what is wrong about two touches of one session."""
    if comes_before(after.read, before.read):
        yield "N-MR"
    if comes_before(after.read, before.last_write):
        yield "MYR"
    if comes_before(after.first_write, before.last_write):
        yield "N-MW"
    if comes_before(after.first_write, before.read):
        yield "MRWD"


def session_facts(rules):
    """Of all pairs of committed transactions on all keys."""
    touches = defaultdict(list)
    for txn in rules.history.transactions:
        for key in {op.key for op in txn.micro_ops} - rules.ambiguous:
            if txn.index in rules.committed:
                touches[key].append(touch_of(rules, txn, key))
    for key, touched in touches.items():
        for before in touched:
            for after in touched:
                for name in wrong(rules, before, after):
                    yield fact(name, [before.txn, after.txn], key, [])


def wrong(rules, before, after):
    if rules.in_session(before.txn, after.txn):
        yield from wrong_in_session(before, after)
    if rules.in_time(before.txn, after.txn) and comes_before(after.first(), before.last()):
        yield "non-linearizable-key"
