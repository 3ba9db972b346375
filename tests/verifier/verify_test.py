#!/usr/bin/env python3
"""The verifier can fail: right verdicts and certificates pass, and each way of tampering with them is
refused with the sentence that says what is wrong. Needs no program under test."""

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import certificate
import edn
import history as histories
from models import MODELS
from support import at_once, history_text, one_by_one
from verify import rules_for, verify


def loaded(text, suffix=".edn"):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"history{suffix}"
        path.write_text(text, encoding="utf-8")
        return histories.load(path)


def verdict_of(history, model, anomalies, **members):
    """An invalid verdict that claims `anomalies`, all of them ruled out by the model."""
    return {"checker": "list-append", "model": model, "valid": False, "anomalies": anomalies,
            "operations": history.operations, "transactions": history.counts(),
            "anomaly_types": sorted({anomaly["type"] for anomaly in anomalies}),
            "all_violated": [model], **members}


def problems(history, verdict, content=None, options=()):
    return verify(rules_for(history, verdict["checker"], options), verdict, content).problems


class Refusals(unittest.TestCase):
    """Base: refused(...) looks for a part of a sentence."""

    def refused(self, sentences, part):
        self.assertTrue(any(part in sentence for sentence in sentences), f"{part!r}: {sentences}")


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
    ("rw-register", [("ok", "wx1"), ("ok", "wx2"), ("ok", "rx1")], "cyclic-versions", [], [2, 1]),
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

    def test_assumptions(self):
        """cyclic-versions of registers follows from a promise only."""
        history, verdict, _ = list(fact_cases())[-1]
        self.refused(self.answer(history, verdict, ()), "does not show it")

    def test_committed_elsewhere(self):
        """A value that another transaction wrote as well, and did not fail, is no G1a."""
        history = loaded(history_text(one_by_one(
            [(0, "fail", "ax1"), (1, "ok", "ax1"), (2, "ok", "rx[1]")])))
        self.assertEqual(rules_for(history, "list-append").facts, set())


# Operations: 1 and 3 write, 5 reads, 7 failed, 8 info and never seen, 9 info but seen by 11.
RUN = one_by_one([(0, "ok", "ax1 ay1"), (1, "ok", "rx[1] ax2"), (0, "ok", "rx[1,2] ry[1]"), (2, "fail", "ax3")])
RUN += [(3, "invoke", "az1"), (4, "invoke", "az2")] + one_by_one([(5, "ok", "rz[2]")])


def serial(*operations):
    return "".join(f'{{"op": {index}}}\n' for index in operations)


def snapshots(*entries):
    return "".join(f'{{"op": {op}, "start": {start}, "commit": {commit}}}\n'
                   for op, start, commit in entries)


class Certificates(Refusals):
    def setUp(self):
        self.history = loaded(history_text(RUN))

    def answer(self, content, model="serializable", history=None):
        return certificate.problems(history or self.history, content, MODELS[model])

    def test_right(self):
        for model in ("serializable", "strong-session-serializable", "strict-serializable"):
            self.assertEqual(self.answer(serial(1, 3, 5, 9, 11), model), [])
            self.assertEqual(self.answer(serial(1, 3, 5, 8, 9, 11), model),
                             ["operation 11 read [2] from key :z, but in the certificate's execution it "
                              "reads [1 2]"])

    def test_whole_verdict(self):
        verdict = verdict_of(self.history, "serializable", [], valid=True, all_violated=[])
        self.assertEqual(problems(self.history, verdict, serial(1, 3, 5, 9, 11)), [])
        self.refused(problems(self.history, verdict, serial(3, 1, 5, 9, 11)), "operation 3 read [1]")
        self.refused(problems(self.history, verdict, ""), "lacks operation 1")

    def test_dropped(self):
        self.refused(self.answer(serial(1, 3, 5, 9)), "lacks operation 11, which is ok")
        self.refused(self.answer(serial(1, 3, 5, 11)), "operation 11 read [2] from key :z")

    def test_swapped(self):
        self.refused(self.answer(serial(3, 1, 5, 9, 11)), "operation 3 read [1] from key :x")
        self.refused(self.answer(serial(1, 5, 3, 9, 11)), "operation 5 read [1 2] from key :x")

    def test_foreign(self):
        self.refused(self.answer(serial(1, 1, 3, 5, 9, 11)), "has operation 1 2 times")
        self.refused(self.answer(serial(1, 3, 5, 7, 9, 11)), "has operation 7, which failed")
        self.refused(self.answer(serial(0, 1, 3, 5, 9, 11)), "names operation 0, which stands for no")

    def test_malformed(self):
        for line in ("[]", "1", '{"op": "1"}', '{"op": true}', "{}", '{"op": 1, "more": 2}', "{", ""):
            with self.subTest(line), self.assertRaisesRegex(edn.Malformed, "line 2 of the certificate"):
                self.answer(serial(1) + line + "\n")

    def test_order(self):
        history = loaded(history_text(one_by_one([(0, "ok", "ax1"), (0, "ok", "ay1"), (1, "ok", "az1")])))
        for content, refusing in ((serial(1, 3, 5), 0), (serial(5, 1, 3), 1), (serial(3, 1, 5), 2)):
            models = ["serializable", "strict-serializable", "strong-session-serializable"]
            for place, model in enumerate(models):
                wrong = self.answer(content, model, history)
                self.assertEqual(bool(wrong), place in ((), (1,), (1, 2))[refusing], (model, wrong))
        self.refused(self.answer(serial(3, 1, 5), "strong-session-serializable", history),
                     "operation 1 completed before operation 3 was invoked, by the same process, but")
        self.refused(self.answer(serial(5, 1, 3), "strict-serializable", history),
                     "operation 3 completed before operation 5 was invoked, but")

    def test_no_certificate(self):
        self.refused(self.answer(serial(1), "read-committed"), "has no certificate")


class Snapshots(Refusals):
    """Operations 3 and 4 are a write skew, 7 reads what both wrote."""

    def setUp(self):
        self.history = loaded(history_text(SKEW))

    def answer(self, *entries, model="snapshot-isolation"):
        return certificate.problems(self.history, snapshots(*entries), MODELS[model])

    def test_right(self):
        for model in ("snapshot-isolation", "strong-session-snapshot-isolation",
                      "strong-snapshot-isolation"):
            self.assertEqual(self.answer((3, 1, 3), (4, 2, 4), (7, 5, 6), model=model), [])

    def test_times(self):
        self.refused(self.answer((3, 1, 2), (4, 3, 4), (7, 5, 6)), "operation 4 read [] from key :y")
        self.refused(self.answer((3, 1, 3), (4, 2, 5), (7, 4, 6)), "operation 7 read [1] from key :x")
        self.refused(self.answer((3, 3, 3), (4, 2, 4), (7, 5, 6)), "starts at 3, not before it commits")
        # What commits at the very time of a start has not committed before it.
        self.refused(self.answer((3, 1, 3), (4, 2, 4), (7, 4, 6)), "operation 7 read [1] from key :x")

    def test_order(self):
        self.history = loaded(history_text(one_by_one([(0, "ok", "ax1"), (0, "ok", "ay1")])))
        entries = (1, 1, 3), (3, 2, 4)
        self.assertEqual(self.answer(*entries), [])
        for model in ("strong-session-snapshot-isolation", "strong-snapshot-isolation"):
            self.refused(self.answer(*entries, model=model), "operation 1 completed before operation 3")

    def test_first_committer_wins(self):
        self.history = loaded(history_text(at_once([(0, "ok", "ax1"), (1, "ok", "ax2")])))
        self.assertEqual(self.answer((2, 1, 2), (3, 3, 4)), [])
        for times in ((1, 3), (2, 4)), ((1, 4), (2, 3)), ((1, 2), (2, 3)):
            self.refused(self.answer((2, *times[0]), (3, *times[1])),
                         "both write key :x, and neither commits before the other starts")


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


class Program(unittest.TestCase):
    """The command line: exit codes and sentences."""

    def run_program(self, verdict, *more):
        with tempfile.TemporaryDirectory() as directory:
            files = [Path(directory) / name for name in ("history.edn", "verdict.json", "certificate")]
            for file, text in zip(files, (history_text(RUN), json.dumps(verdict), serial(1, 3, 5, 9, 11))):
                file.write_text(text, encoding="utf-8")
            arguments = [sys.executable, Path(__file__).with_name("verify.py"), *files, *more]
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_exit_codes(self):
        verdict = verdict_of(loaded(history_text(RUN)), "strict-serializable", [], valid=True,
                             all_violated=[])
        self.assertEqual(self.run_program(verdict), (
            0, "0 anomalies with 0 steps and 1 certificates verified\n"))
        verdict["valid"] = False
        code, printed = self.run_program(verdict)
        self.assertEqual((code, printed.count("\n")), (1, 2))
        self.assertEqual(self.run_program([])[0], 1)
        self.assertEqual(self.run_program(verdict, "--option", "good=true")[0], 1)


if __name__ == "__main__":
    unittest.main()
