#!/usr/bin/env python3
"""What must not change a verdict does not, and a known anomaly put into a valid history is always
found.

    ORDEAL=build/ordeal SEED=7 ROUNDS=40 tests/verifier/metamorphic_test.py

The seed is printed; without one, each run has another.
"""

import os
import random
import sys
import tempfile
import unittest
from pathlib import Path

import edn
import history as histories
from cycles import CLASSES, LEVELS, rank
from edn import Atom, Map, Set
from simulator import simulate
from support import HISTORIES, at_once, history_text, one_by_one, verdicts
from verify import rules_for, verify

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
ROUNDS = int(os.environ.get("ROUNDS", "40"))


def all_types(verdict):
    return set(verdict["anomaly_types"]) | set(verdict.get("anomaly_types_beyond", []))


def with_implied(types):
    """And the types of cycles that they imply: a report leaves those out where they share a component."""
    found = set(types)
    for name in types:
        place = rank(name)
        classes = [] if place is None else CLASSES[:2] if place[0] < 2 else CLASSES[2:]
        for implied in classes:
            if CLASSES.index(implied) >= place[0]:
                found |= {implied + level for level in LEVELS[place[1]:]}
    return found


def events_of(file):
    text = file.read_text(encoding="utf-8")
    return histories.edn_events(text)


def changed(events, change_event=lambda at, name, value: value, change_op=lambda op: op):
    """A copy: members by change_event(place, name, value), micro-operations by change_op."""
    def member(at, key, value):
        if key == ":value" and isinstance(value, list):
            value = [change_op(op) for op in value]
        return key, change_event(at, key[1:], value)
    return [Map(member(at, key, value) for key, value in event) for at, event in enumerate(events)]


def renamed_keys(events, rng):
    kind = rng.choice([lambda key: Atom(f":k{edn.text(key)}"), lambda key: f"key \"{edn.text(key)}\"",
                       lambda key: [Atom(":pg"), key], lambda key: Atom(f"{edn.text(key)}.5"),
                       lambda key: shuffled(Map, [(Atom(":k"), key), (Atom(":n"), 7), (8, 9)], rng),
                       lambda key: [shuffled(Set, [key, Atom(":a"), "b"], rng)]])
    return changed(events, change_op=lambda op: [op[0], kind(op[1]), op[2]])


def shuffled(kind, items, rng):
    """The same map or set, in another order each time."""
    return kind(rng.sample(items, len(items)))


def renamed_values(events, rng):
    kind = rng.choice([lambda value: value + 2**62, lambda value: -value - 1, lambda value: f"v{value}",
                       lambda value: Map([(Atom(":v"), value)]), lambda value: value * 10**12])
    def one(value):
        return None if value is None else kind(value)
    def value_of(op):
        return [one(item) for item in op[2]] if isinstance(op[2], list) else one(op[2])
    return changed(events, change_op=lambda op: [op[0], op[1], value_of(op)])


def renamed_processes(events, rng):
    names = {event.get("process") for event in events}
    new = dict(zip(sorted(names, key=str), rng.sample(range(1000), len(names))))
    return changed(events, lambda _, name, value: new[value] if name == "process" else value)


def shifted(events, rng):
    """Indexes with gaps and times with an offset; the order stays."""
    shift, gap = rng.randrange(1000), rng.randrange(1, 9)
    numbers = {"index": lambda at, _: shift + gap * at, "time": lambda _, value: value + 10**9}
    return changed(events, lambda at, name, value: numbers[name](at, value) if name in numbers else value)


def unnumbered(events, _):
    return [Map(pair for pair in event if pair[0] not in (":index", ":time")) for event in events]


def numbered(events):
    """Without times, which two histories do not share."""
    return [Map([(Atom(":index"), at)] + [pair for pair in event if pair[0] not in (":index", ":time")])
            for at, event in enumerate(events)]


def interleaved(one, other, rng):
    """Two histories as one, over keys and processes that they do not share."""
    other = changed(other, lambda _, name, value: value + 5000 if name == "process" else value,
                    lambda op: [op[0], [Atom(":other"), op[1]], op[2]])
    rest, merged = [list(reversed(one)), list(reversed(other))], []
    while rest[0] or rest[1]:
        side = rng.choices([0, 1], [len(rest[0]), len(rest[1])])[0]
        merged.append(rest[side].pop())
    return numbered(merged)


class Files:
    """A directory for histories, judged all at once."""

    def __init__(self, test):
        directory = tempfile.TemporaryDirectory()
        test.addCleanup(directory.cleanup)
        self.directory, self.files = Path(directory.name), []

    def add(self, events):
        """Events as maps, or text."""
        path = self.directory / f"{len(self.files)}.edn"
        text = events if isinstance(events, str) else "\n".join(map(edn.text, events)) + "\n"
        path.write_text(text, encoding="utf-8")
        self.files.append(path)

    def judge(self, checker):
        return verdicts(self.files, "--checker", checker) if self.files else []


def without_time(types):
    return {name for name in types if not name.endswith("-realtime")}


class Metamorphic(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"seed {SEED}", file=sys.stderr)
        cls.rng = random.Random(SEED)
        files = sorted(HISTORIES.rglob("*.edn"))
        cls.by_checker = {"list-append": [], "rw-register": []}
        for file in files:
            is_register = ":w" in file.read_text(encoding="utf-8")
            cls.by_checker["rw-register" if is_register else "list-append"].append(file)

    def sample(self, checker):
        files = self.by_checker[checker]
        return self.rng.sample(files, min(ROUNDS, len(files)))

    def compare(self, change):
        """Of each kind of histories, a sample before and after the change."""
        for checker in self.by_checker:
            sample, files = self.sample(checker), Files(self)
            for file in sample:
                files.add(change(events_of(file), self.rng))
            for file, before, after in zip(sample, verdicts(sample, "--checker", checker),
                                           files.judge(checker)):
                with self.subTest(file=str(file)):
                    self.assertEqual(all_types(after), all_types(before))
                    self.assertEqual(after["valid"], before["valid"])
                    self.assertEqual(after["anomaly_counts"], before["anomaly_counts"])

    def test_keys(self):
        self.compare(renamed_keys)

    def test_values(self):
        self.compare(renamed_values)

    def test_processes(self):
        self.compare(renamed_processes)

    def test_indexes_and_times(self):
        self.compare(shifted)
        self.compare(unnumbered)

    def test_interleaved(self):
        """Nothing but real time relates the two. Two broken histories may be broken in more ways
        together: what one did before and after the other is then in an order that neither shows alone
        (a circle that leaves a history and comes back shows a later transaction of it before an
        earlier one). Not so if either has no circle: then what leads from one transaction to another
        in it did not begin after that had ended, so that the way through it is in real time
        order already. A circle may still go that way, and take an edge of data along: it then has another
        name as well, but rules out no other model."""
        for checker in self.by_checker:
            ones, others, files = self.sample(checker), self.sample(checker), Files(self)
            for one, other in zip(ones, others):
                files.add(interleaved(events_of(one), events_of(other), self.rng))
            judged = (verdicts(ones, "--checker", checker), verdicts(others, "--checker", checker))
            for one, other, both in zip(*judged, files.judge(checker)):
                parts = [with_implied(all_types(each)) for each in (one, other)]
                found, expected = with_implied(all_types(both)), parts[0] | parts[1]
                with self.subTest(one=one["file"], other=other["file"]):
                    self.assertEqual(without_time(found), without_time(expected))
                    self.assertLessEqual(expected, found)
                    if not all(any(rank(name) for name in part) for part in parts):
                        violated = [set(each["all_violated"]) for each in (one, other, both)]
                        self.assertEqual(violated[2], violated[0] | violated[1])


def together(*transactions):
    return at_once([(process, *transaction) for process, transaction in enumerate(transactions)])


def in_turn(*transactions, process=None):
    return one_by_one([(number if process is None else process, *transaction)
                       for number, transaction in enumerate(transactions)])


def ok(*words):
    return [("ok", each) for each in words]


# Anomaly -> events on keys that nothing else uses. Data alone shows it, but for the last two.
LISTS = {
    "G0": together(*ok("ax1 ay1", "ax2 ay2", "rx[1,2] ry[2,1]")),
    "G1a": together(("fail", "ax1"), *ok("rx[1]")),
    "G1b": together(*ok("ax1 ax2", "rx[1]")),
    "G1c": together(*ok("ax1 ry[1]", "ay1 rx[1]")),
    "G-single-item": together(*ok("ax1 ay1", "rx[] ry[1]")),
    "G-nonadjacent-item": together(*ok("ax1", "ay1", "rx[1] ry[]", "rx[] ry[1]")),
    "G2-item": together(*ok("rx[] ay1", "ry[] ax1")),
    "internal": together(*ok("ax1 rx[]")),
    "lost-update": together(*ok("rx[] ax1", "rx[] ax2", "rx[1,2]")),
    "dirty-update": together(("fail", "ax1"), *ok("ax2", "rx[1,2]")),
    "incompatible-order": together(*ok("ax1", "ax2", "rx[1,2]", "rx[2,1]")),
    "duplicate-elements": together(*ok("ax1", "rx[1,1]")),
    "garbage-read": together(*ok("rx[7]")),
    "future-read": together(*ok("rx[1] ax1")),
    "cyclic-versions": together(*ok("ax1 ax2", "rx[2,1]")),
    "G-single-item-process": in_turn(*ok("ax1", "rx[]"), process=0),
    "G-single-item-realtime": in_turn(*ok("ax1", "rx[]")),
}
REGISTERS = {
    "G1a": together(("fail", "wx1"), *ok("rx1")),
    "G1b": together(*ok("wx1 wx2", "rx1")),
    "G1c": together(*ok("wx1 ry1", "wy1 rx1")),
    "G-single-item": together(*ok("wx1 wy1", "rx_ ry1")),
    "G-nonadjacent-item": together(*ok("wx1", "wy1", "rx1 ry_", "rx_ ry1")),
    "G2-item": together(*ok("rx_ wy1", "ry_ wx1")),
    "internal": together(*ok("wx1 rx2", "wx2")),
    "lost-update": together(*ok("rx_ wx1", "rx_ wx2")),
    "dirty-update": together(("fail", "wx1"), *ok("rx1 wx2")),
    "garbage-read": together(*ok("rx7", "wy1")),  # without a write, it could be a history of lists
    "future-read": together(*ok("rx1 wx1")),
    "G-single-item-process": in_turn(*ok("wx1", "rx_"), process=0),
    "G-single-item-realtime": in_turn(*ok("wx1", "rx_")),
}


def injected(events, group, rng):
    """The group, by processes of its own, somewhere in the history; its order stays."""
    rest, merged = list(events), []
    places = sorted(rng.randrange(len(events) + 1) for _ in group)
    for place, (process, phase, words) in zip(places, group):
        while len(events) - len(rest) < place:
            merged.append(rest.pop(0))
        merged.append((900 + process, phase, words))
    return merged + rest


class Injection(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"seed {SEED}", file=sys.stderr)

    def find(self, checker, groups):
        """Each anomaly in several histories, which without it are valid."""
        rng = random.Random(SEED)
        plain, files, names = Files(self), Files(self), []
        for name, group in groups.items():
            for _ in range(max(1, ROUNDS // 4)):
                events = simulate(rng, rng.randint(1, 40), checker == "rw-register")
                plain.add(history_text(events))
                files.add(history_text(injected(events, group, rng)))
                names.append(name)
        for verdict in plain.judge(checker):
            self.assertIn(verdict["valid"], (True, "unknown"), verdict)
        for name, file, verdict in zip(names, files.files, files.judge(checker)):
            with self.subTest(name):
                self.found(name, file, checker, verdict)

    def found(self, name, file, checker, verdict):
        self.assertIs(verdict["valid"], False)
        self.assertIn(name, with_implied(verdict["anomaly_types"]))
        report = verify(rules_for(histories.load(file), checker), verdict)
        self.assertEqual(report.problems, [])

    def test_lists(self):
        self.find("list-append", LISTS)

    def test_registers(self):
        self.find("rw-register", REGISTERS)


if __name__ == "__main__":
    unittest.main()
