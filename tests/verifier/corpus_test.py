#!/usr/bin/env python3
"""Every verdict over the histories in tests/histories goes through the verifier.

    ORDEAL=build/ordeal tests/verifier/corpus_test.py

CORPUS names another directory; VERDICTS how many are verified at most (a sample beyond that), SEED
which.
"""

import os
import random
import sys
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import history as histories
from models import MODELS
from support import HISTORIES, certified, verdicts
from verify import rules_for, verify

CORPUS = Path(os.environ.get("CORPUS", HISTORIES))
VERDICTS_MAX = int(os.environ.get("VERDICTS", "600"))
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
JUDGED = [name for name, model in MODELS.items() if model.snapshots is not None] + [
    "read-committed", "strong-session-repeatable-read", "strong-consistent-view"]
ASSUMPTIONS = [[], ["wfr-keys"], ["sequential-keys"], ["linearizable-keys"]]


class Job:
    """A history under a model and, of registers, an assumption."""

    def __init__(self, file, model, options):
        self.file, self.model, self.options = file, model, options

    def __str__(self):
        return f"{self.file} under {' '.join([self.model, *self.options])}"

    def arguments(self, checker):
        return ["--checker", checker, "--model", self.model,
                *(word for name in self.options for word in ("--option", f"{name}=true"))]


class Corpus(unittest.TestCase):
    """Counts are printed, so that a corpus that shrinks unnoticed is noticed."""

    @classmethod
    def setUpClass(cls):
        cls.histories = {file: histories.load(file) for file in sorted(CORPUS.rglob("*"))
                         if file.suffix in (".edn", ".json") or file.suffix == ".jsonl"
                         and file.name != "verdicts.jsonl"}
        print(f"seed {SEED}", file=sys.stderr)

    def checker(self, file):
        return "rw-register" if self.histories[file].is_register else "list-append"

    def jobs(self, checker):
        assumptions = ASSUMPTIONS if checker == "rw-register" else [[]]
        jobs = [Job(file, model, options) for file in self.histories if self.checker(file) == checker
                for options in assumptions for model in JUDGED]
        sampled = sorted(random.Random(SEED).sample(range(len(jobs)), min(VERDICTS_MAX, len(jobs))))
        return [jobs[place] for place in sampled]

    def judge(self, job, checker):
        """Verdict, and certificate where there may be one."""
        arguments = job.arguments(checker)
        if checker == "list-append" and MODELS[job.model].snapshots is not None:
            return certified(job.file, *arguments)
        return verdicts([job.file], *arguments)[0], None

    def verify_all(self, checker):
        jobs, counts, rules = self.jobs(checker), Counter(), {}
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda job: self.judge(job, checker), jobs)
            for job, (verdict, content) in zip(jobs, answers):
                known = (job.file, *job.options)
                if known not in rules:
                    rules = {known: rules_for(self.histories[job.file], checker, job.options)}
                self.verify_one(job, rules[known], verdict, content, counts)
        print(f"{checker}:", ", ".join(f"{count} {what}" for what, count in counts.items()),
              file=sys.stderr)
        return counts

    def verify_one(self, job, rules, verdict, content, counts):
        report = verify(rules, verdict, content)
        with self.subTest(str(job)):
            self.assertEqual(report.problems, [])
        counts.update({"verdicts": 1, f"valid: {verdict['valid']}": 1, "steps": report.steps,
                       "anomalies": report.anomalies, "certificates": report.certificates})

    def test_list_append(self):
        counts = self.verify_all("list-append")
        for what in ("steps", "anomalies", "certificates"):
            self.assertGreater(counts[what], 0)

    def test_rw_register(self):
        self.assertGreater(self.verify_all("rw-register")["verdicts"], 0)


if __name__ == "__main__":
    unittest.main()
