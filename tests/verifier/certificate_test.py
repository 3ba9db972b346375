#!/usr/bin/env python3
"""Certificates: right ones pass, and each way of tampering with them is refused with the sentence
that says what is wrong; and the verifier's command line. Needs no program under test."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import certificate
import edn
from models import MODELS
from support import Refusals, at_once, history_text, loaded, one_by_one, problems, verdict_of

# Operations 3 and 4 are a write skew on x and y; 5 failed; 7 reads both.
SKEW = at_once([(0, "ok", "rx[] ay1"), (1, "ok", "ry[] ax1"), (2, "fail", "ax9")]) + one_by_one(
    [(0, "ok", "rx[1] ry[1]")])
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
