#!/usr/bin/env python3
"""The verifier can fail: right verdicts pass, and each way of tampering with them is refused with
the sentence that says what is wrong. Needs no program under test; certificate_test.py does the
same."""

import copy
import json
import unittest

import edn
from support import Refusals, at_once, history_text, loaded, one_by_one, problems, verdict_of
from verify import rules_for


# Operations 3 and 4 are a write skew on x and y; 5 failed; 7 reads both.
SKEW = at_once([(0, "ok", "rx[] ay1"), (1, "ok", "ry[] ax1"), (2, "fail", "ax9")]) + one_by_one(
    [(0, "ok", "rx[1] ry[1]")])
SKEW_STEPS = [{"from": 3, "to": 4, "edge": "rw", "key": ":x", "next_value": 1},
              {"from": 4, "to": 3, "edge": "rw", "key": ":y", "next_value": 1}]


class Cycles(Refusals):
    def setUp(self):
        self.history = loaded(history_text(SKEW))
        self.verdict = verdict_of(self.history, "serializable",
                                  [{"type": "G2-item", "steps": copy.deepcopy(SKEW_STEPS)}])
        self.anomaly = self.verdict["anomalies"][0]
        self.steps = self.anomaly["steps"]

    def refuses(self, part):
        self.refused(problems(self.history, self.verdict), part)

    def test_right(self):
        self.assertEqual(problems(self.history, self.verdict), [])

    def test_members_of_a_step(self):
        shows = "step 1: the history does not show"
        for name, value in (("edge", "ww"), ("edge", "wr"), ("key", ":y"), ("key", ":z"),
                            ("key", "x"), ("value", 1), ("value", None), ("next_value", 2),
                            ("next_value", "1"), ("next_value", True), ("to", 8)):
            with self.subTest(name=name, value=value):
                self.steps[0] = dict(SKEW_STEPS[0], **{name: value})
                self.refuses(shows)

    def test_hint(self):
        self.steps[0]["next_value"] = 2
        self.refuses("; the history shows 3 -rw-> 4 by key :x: nothing then 1")

    def test_open_chain(self):
        del self.steps[1]
        self.refuses("step 1 leads to operation 4, but the next one starts at 3")

    def test_reversed(self):
        self.steps[0].update({"from": 4, "to": 3})
        self.refuses("does not show 4 -rw-> 3 by key :x")

    def test_wrong_type(self):
        for name in ("G-single-item", "G-nonadjacent-item", "G2-item-realtime", "G0", "G1a"):
            with self.subTest(name):
                self.anomaly["type"] = name
                self.refuses("a circle of these edges is G2-item")

    def test_order_steps(self):
        for edge, start, end, part in (
                ("realtime", 3, 4, "had not completed before"),
                ("realtime", 7, 3, "had not completed before"),
                ("realtime", 5, 7, "operation 5 is no transaction that is known to have committed"),
                ("realtime", 1, 7, "operation 1 is no transaction"),
                ("process", 4, 7, "are of different processes"),
                ("process", 3, 99, "operation 99 is no transaction")):
            with self.subTest(edge=edge, start=start, end=end):
                self.steps[0] = {"from": start, "to": end, "edge": edge}
                self.refuses(part)
        self.steps[0] = {"from": 3, "to": 7, "edge": "process", "key": ":x"}
        self.refuses("a process edge has no key or value")

    def test_validity(self):
        self.verdict["model"] = "snapshot-isolation"
        self.refuses("no verified anomaly is one that snapshot-isolation rules out")
        self.refuses("anomaly_types has G2-item, which snapshot-isolation allows")
        self.verdict.update(model="serializable", anomalies=[])
        self.refuses("anomaly_types has G2-item, of which no anomaly was verified")
        self.refuses("no verified anomaly is one that serializable rules out")

    def test_beyond(self):
        self.verdict.update(anomaly_types=[], anomaly_types_beyond=["G2-item"])
        self.refuses("anomaly_types_beyond has G2-item, which serializable rules out")

    def test_false_valid(self):
        self.verdict.update(valid=True, anomalies=[], anomaly_types=[], all_violated=[])
        self.refuses("the verdict is valid, but the history has G2-item, which serializable rules out")
        self.verdict["model"] = "snapshot-isolation"
        self.assertEqual(problems(self.history, self.verdict), [])

    def test_members_of_the_verdict(self):
        for member, value, part in (("operations", 7, "operations are 8, not 7"),
                                    ("transactions", {"ok": 4}, "transactions are"),
                                    ("all_violated", [], "all_violated has serializable: False"),
                                    ("model", "good", "model good is not known"),
                                    ("checker", "bank", "checker bank is not known")):
            with self.subTest(member):
                verdict = dict(self.verdict, **{member: value})
                self.refused(problems(self.history, verdict), part)

    def test_unread_elements(self):
        """They come after all that were read, in no order among themselves."""
        history = loaded(history_text(one_by_one(
            [(0, "ok", "ax1"), (1, "ok", "rx[1]"), (2, "ok", "ax2"), (3, "ok", "ax3"), (4, "info", "ax4")])))
        edges = {edge[:3] for edge in rules_for(history, "list-append").edges}
        self.assertEqual(edges, {(1, 3, "wr"), (1, 5, "ww"), (1, 7, "ww"), (3, 5, "rw"), (3, 7, "rw")})

    def test_incompatible_read(self):
        """An element that a read saw is none that it did not see, wherever the order has it."""
        history = loaded(history_text(one_by_one(
            [(0, "ok", "ax1"), (1, "ok", "ax2 ax3"), (2, "ok", "rx[1,3,2]"), (3, "ok", "ax4"),
             (4, "ok", "rx[1,2,3,4]")])))
        edges = {edge[:3] for edge in rules_for(history, "list-append").edges if 5 in edge[:2]}
        self.assertEqual(edges, {(3, 5, "wr"), (5, 7, "rw")})

    def test_repeated_element(self):
        """A repetition is no version: the read saw the last one that is new."""
        history = loaded(history_text(one_by_one(
            [(0, "ok", "ax1"), (1, "ok", "ax2"), (2, "ok", "rx[1,2,1]"), (3, "ok", "ax3")])))
        edges = {edge[:3] for edge in rules_for(history, "list-append").edges if 5 in edge[:2]}
        self.assertEqual(edges, {(1, 5, "wr"), (3, 5, "wr"), (5, 7, "rw")})


# Transactions (one after the other, process n the n-th), then the claim: type, operations, key, values.
FACTS = [
    ("list-append", [("fail", "ax1"), ("ok", "rx[1]")], "G1a", [3, 1], [1]),
    ("list-append", [("ok", "ax1 ax2"), ("ok", "rx[1]")], "G1b", [3, 1], [1]),
    ("list-append", [("ok", "ax1 rx[1,2] ry[]")], "internal", [1], [1, 2]),
    ("list-append", [("ok", "rx[1] ax1")], "future-read", [1], [1]),
    ("list-append", [("ok", "ax1"), ("ok", "rx[1,1]")], "duplicate-elements", [3], [1]),
    ("list-append", [("ok", "ax1"), ("ok", "ax2"), ("ok", "rx[1,2]"), ("ok", "rx[2,1]")],
     "incompatible-order", [5], [1, 2]),
    ("list-append", [("ok", "rx[] ax1"), ("ok", "rx[] ax2")], "lost-update", [1, 3], []),
    ("list-append", [("fail", "ax1"), ("ok", "ax2"), ("ok", "rx[1,2]")], "dirty-update", [1, 3], [1, 2]),
    ("list-append", [("ok", "rx[7]")], "garbage-read", [1], [7]),
    ("list-append", [("ok", "ax1 ax2"), ("ok", "rx[2,1]")], "cyclic-versions", [1], [1, 2]),
    ("rw-register", [("fail", "wx1"), ("ok", "rx1")], "G1a", [3, 1], [1]),
    ("rw-register", [("ok", "wx1 wx2"), ("ok", "rx1")], "G1b", [3, 1], [1]),
    ("rw-register", [("ok", "wx1 wx2 rx1")], "internal", [1], [1]),
    ("rw-register", [("ok", "rx1 wx1")], "future-read", [1], [1]),
    ("rw-register", [("ok", "rx_ wx1"), ("ok", "rx_ wx2")], "lost-update", [1, 3], [None]),
    ("rw-register", [("fail", "wx1"), ("ok", "rx1 wx2")], "dirty-update", [3, 1], [1]),
    ("rw-register", [("ok", "wx1 ry_"), ("ok", "rx7")], "garbage-read", [3], [7]),
    ("rw-register", [("ok", "wx1"), ("ok", "wx2"), ("ok", "rx1")], "cyclic-versions", [3, 1], [2, 1]),
]


def fact_cases():
    """History, verdict and its only claim, of each of FACTS."""
    for checker, transactions, name, operations, values in FACTS:
        events = [(process, phase, words) for process, (phase, words) in enumerate(transactions)]
        history = loaded(history_text(one_by_one(events)))
        claim = {"type": name, "steps": [], "operations": operations, "key": ":x", "values": values}
        yield history, verdict_of(history, "serializable", [claim], checker=checker), claim


class Facts(Refusals):
    def answer(self, history, verdict, options=("linearizable-keys",)):
        return problems(history, verdict, None, options)

    def test_right(self):
        for history, verdict, claim in fact_cases():
            with self.subTest(checker=verdict["checker"], type=claim["type"]):
                self.assertEqual(self.answer(history, verdict), [])

    def test_tampered(self):
        for history, verdict, claim in fact_cases():
            right = dict(claim)
            for member, value in (("operations", right["operations"] + [1]), ("operations", [0]),
                                  ("key", ":y"), ("values", right["values"] + [5]), ("values", [99])):
                claim.update(right)
                claim[member] = value
                with self.subTest(checker=verdict["checker"], type=claim["type"], member=member):
                    self.refused(self.answer(history, verdict),
                                 "the history does not show it of operations")

    def test_sessions(self):
        """What one key shows; (process, shorthand) one after the other, the last read gives the order."""
        for name, first, second in (("N-MR", "rx[1,2]", "rx[1]"), ("MYR", "ax3", "rx[1,2]"),
                                    ("N-MW", "ax3", "ax1"), ("MRWD", "rx[1,2]", "ax1"),
                                    ("non-linearizable-key", "rx[1,2]", "rx[1]")):
            written = {op[1:] for op in (first, second) if op.startswith("a")}
            rest = " ".join(f"ax{value}" for value in "123" if f"x{value}" not in written)
            same = name != "non-linearizable-key"
            events = at_once([(8, "ok", rest)]) + one_by_one(
                [(0, "ok", first), (0 if same else 1, "ok", second), (9, "ok", "rx[1,2,3]")])
            facts = {fact[:2] for fact in rules_for(loaded(history_text(events)), "list-append").facts}
            self.assertIn((name, (3, 5)), facts)
            self.assertNotIn((name, (5, 3)), facts)
            self.assertEqual("N-MR" in {fact[0] for fact in facts}, name == "N-MR")

    def test_assumptions(self):
        """cyclic-versions of registers follows from a promise only."""
        history, verdict, _ = list(fact_cases())[-1]
        self.refused(self.answer(history, verdict, ()), "does not show it")

    def test_committed_elsewhere(self):
        """A value that another transaction wrote as well, and did not fail, is no G1a."""
        history = loaded(history_text(one_by_one(
            [(0, "fail", "ax1"), (1, "ok", "ax1"), (2, "ok", "rx[1]")])))
        self.assertEqual(rules_for(history, "list-append").facts, set())


class Readers(Refusals):
    def test_forms(self):
        text = ('; a comment\r\n#jepsen.history.Op{:index 3, :process 0 :type :invoke, :f :txn, :value '
                '[[:append "a\\n\\u0041" -7N] #_ignored [:r [:pg 1] nil]]}\n{:process :nemesis, :type :info, '
                ':f :kill, :value #{1 {:a 2.50}}}')
        history = loaded("\ufeff" + text)
        txn = history.by_index[3]
        self.assertEqual((history.operations, txn.status, txn.invoked, txn.completed), (2, "info", 0, None))
        self.assertEqual([(op.function, op.key, op.value) for op in txn.micro_ops],
                         [("append", ("str", "a\nA"), ("int", -7)), ("r", ("edn", "[:pg 1]"), None)])

    def test_json(self):
        events = [{"type": "invoke", "process": 0, "f": "txn", "value": [["r", "x", None]]},
                  {"type": "ok", "process": 0, "f": "txn", "value": [["r", "x", [2**60, 1.50, True]]]}]
        lines = "\n".join(json.dumps(event) for event in events)
        read = {str(loaded(text, ".json").transactions) for text in (json.dumps(events), lines)}
        self.assertEqual(len(read), 1)
        self.assertIn(f"('int', {2**60}), ('edn', '1.5'), ('bool', True)", read.pop())

    def test_values_are_told_apart(self):
        self.assertEqual(len({edn.scalar(form) for form in edn.forms('1 true nil "nil" :nil "1" 1.0')}), 7)

    def test_completion_and_invocation(self):
        history = loaded("{:type :invoke :process 0 :f :txn :value [[:append x 1] [:r x nil]]}\n"
                         "{:type :info :process 0 :f :txn :value nil}\n"
                         "{:type :invoke :process 1 :f :txn :value [[:append x 2] [:r y nil]]}\n"
                         "{:type :ok :process 1 :f :txn :value [[:append x nil] [:r y nil]]}\n")
        first, second = history.transactions
        self.assertEqual((first.index, first.status, first.reads()), (0, "info", []))
        self.assertEqual([op.value for op in second.micro_ops], [("int", 2), ()])

    def test_malformed(self):
        for text in ('{:type :ok', '{:a}', '"abc', '{:type :ok :process 0 :f :txn :value [[:cas x 1]]}', '[{"type":'):
            with self.subTest(text), self.assertRaises(edn.Malformed):
                loaded(text)


if __name__ == "__main__":
    unittest.main()
