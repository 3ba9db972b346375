"""Replays a certificate: is it an execution that gives what the history's reads returned?

A serial certificate has one line {"op": INDEX} a transaction, in the order of execution; one of
snapshots {"op": INDEX, "start": S, "commit": C}. A serial execution is one of snapshots that start
where they commit, so both are replayed alike. Every function returns sentences: what is not so.
"""

import bisect
import json
from collections import Counter
from typing import NamedTuple

from edn import NIL, text
from edn import Malformed


class Entry(NamedTuple):
    txn: object
    start: int
    commit: int


def numbers_of(line, number, snapshots):
    names = ("op", "start", "commit") if snapshots else ("op",)
    try:
        found = json.loads(line)
        values = [found[name] for name in names]
        assert all(type(value) is int for value in values) and len(found) == len(names)
    except (ValueError, KeyError, TypeError, AssertionError):
        form = ", ".join(f'"{name}": N' for name in names)
        raise Malformed(f"line {number} of the certificate is not {{{form}}}") from None
    return values if snapshots else [values[0], number, number]


def parse(history, content, snapshots):
    """Entries, and what is wrong with the choice of transactions."""
    entries, wrong = [], []
    for number, line in enumerate(content.splitlines(), 1):
        op, start, commit = numbers_of(line, number, snapshots)
        txn = history.by_index.get(op)
        if txn is None:
            wrong.append(f"line {number} of the certificate names operation {op}, "
                         "which stands for no transaction of the history")
        elif txn.status == "fail":
            wrong.append(f"the certificate has operation {op}, which failed")
        elif snapshots and start >= commit:
            wrong.append(f"operation {op} starts at {start}, not before it commits at {commit}")
        else:
            entries.append(Entry(txn, start, commit))
    return entries, wrong + miscounted(history, entries)


def miscounted(history, entries):
    counts = Counter(entry.txn.index for entry in entries)
    for txn in history.transactions:
        if counts[txn.index] > 1:
            yield_count = counts[txn.index]
            return [f"the certificate has operation {txn.index} {yield_count} times"]
    return [f"the certificate lacks operation {txn.index}, which is ok"
            for txn in history.transactions if txn.status == "ok" and not counts[txn.index]]


class State:
    """Committed values of each key; lists as tuples."""

    def __init__(self, initial):
        self.initial = initial
        self.values = {}

    def get(self, key):
        return self.values.get(key, self.initial)

    def write(self, op):
        is_append = op.function == "append"
        self.values[op.key] = self.get(op.key) + (op.value,) if is_append else op.value


def show(value):
    """A scalar or a list of them as EDN."""
    if value and isinstance(value[0], tuple) or value == ():
        return "[" + " ".join(show(item) for item in value) + "]"
    kind, content = value
    return content if kind == "edn" else text(content)


def replay_one(txn, state, initial):
    """A transaction upon a snapshot of what it touches."""
    own = State(initial)
    own.values = {op.key: state.get(op.key) for op in txn.micro_ops}
    for op in txn.micro_ops:
        if op.function != "r":
            own.write(op)
        elif op.value is not None and op.value != own.get(op.key):
            yield (f"operation {txn.index} read {show(op.value)} from key {show(op.key)}, but in the "
                   f"certificate's execution it reads {show(own.get(op.key))}")


def replay(history, entries):
    """Starts and commits in order of time; of the same time, serial ones apart, starts first."""
    initial = NIL if history.is_register else ()
    state, wrong = State(initial), []
    events = [event for entry in entries
              for event in ((entry.start, 0, entry.txn), (entry.commit, 1, entry.txn))]
    for _, is_commit, txn in sorted(events, key=lambda event: event[:2]):
        if not is_commit:
            wrong += replay_one(txn, state, initial)
        for op in txn.writes() if is_commit else ():
            state.write(op)
    return wrong


def overlaps(entries):
    """First committer wins: of two that write one key, one commits before the other starts."""
    writers = {}
    for entry in sorted(entries, key=lambda entry: entry.commit):
        for key in {op.key for op in entry.txn.writes()}:
            before = writers.get(key)
            # Those before it committed earlier still, so the last one is the one to ask.
            if before and not before.commit < entry.start:
                yield (f"operations {before.txn.index} and {entry.txn.index} both write key "
                       f"{show(key)}, and neither commits before the other starts")
            writers[key] = entry


def out_of_order(entries, kind):
    """Of those that completed before another was invoked, the one to commit last must have
    committed before that other starts; per process for session order."""
    groups = {}
    for entry in entries:
        groups.setdefault(entry.txn.process if kind == "process" else None, []).append(entry)
    for group in groups.values():
        yield from out_of_order_in(group, kind)


def out_of_order_in(group, kind):
    done = sorted((entry for entry in group if entry.txn.status == "ok"),
                  key=lambda entry: entry.txn.completed)
    latest = []  # of done[:n + 1] the one to commit last
    for entry in done:
        latest.append(max(latest[-1:] + [entry], key=lambda entry: entry.commit))
    completions = [entry.txn.completed for entry in done]
    for entry in group:
        invoked = entry.txn.invoked
        place = bisect.bisect_left(completions, invoked) if invoked is not None else 0
        if place and not latest[place - 1].commit < entry.start:
            first, second = latest[place - 1].txn.index, entry.txn.index
            words = "by the same process, " if kind == "process" else ""
            yield (f"operation {first} completed before operation {second} was invoked, {words}but "
                   "the certificate does not have it first")


def problems(history, content, model):
    """All that the certificate does not prove; `model` is of models.MODELS."""
    if model.snapshots is None:
        return ["a model without an order of transactions has no certificate"]
    entries, wrong = parse(history, content, model.snapshots)
    if wrong:
        return wrong
    wrong = replay(history, entries)
    if model.snapshots:
        wrong += overlaps(entries)
    for kind in model.orders:
        wrong += out_of_order(entries, kind)
    return wrong
