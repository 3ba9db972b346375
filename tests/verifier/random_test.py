#!/usr/bin/env python3
"""Verdicts and certificates of random small histories, most of them absurd, go through the verifier.

    ORDEAL=build/ordeal tests/verifier/random_test.py

SEED chooses the histories, ROUNDS how many times 100 of them. What is false here is the smallest that can be.
"""
import os
import pathlib
import random
import sys
import tempfile
import unittest
from collections import Counter, defaultdict

import history as histories
from models import MODELS
from support import asked, certified, history_text, verdicts
from verify import rules_for, verify

SEED = int(os.environ.get("SEED", 1))
ROUNDS = int(os.environ.get("ROUNDS", 12))
HISTORIES, MODELS_EACH, CERTIFIED = 100, 4, 0.2
ASSUMPTIONS = [[], ["wfr-keys"], ["sequential-keys"], ["linearizable-keys"],
               ["wfr-keys", "sequential-keys", "linearizable-keys"]]


class Store:
    """Transactions of up to three micro-operations, whose reads show states that may never have been."""

    def __init__(self, rng, registers):
        self.rng, self.registers = rng, registers
        self.written = defaultdict(list)
        self.keys = "xy" if rng.random() < 0.7 else "x"
        self.asked = [[self.micro_op() for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(2, 6))]
        self.orders = {key: rng.sample(values, len(values)) if rng.random() < 0.3 else values
                       for key, values in self.written.items()}

    def micro_op(self):
        key = self.rng.choice(self.keys)
        if self.rng.random() < 0.5:
            return "r", key, None
        self.written[key].append(str(len(self.written[key]) + 1))
        return "w" if self.registers else "a", key, self.written[key][-1]

    def read(self, key):
        order = self.orders.get(key, [])
        if self.registers:
            return self.rng.choice(["_", *order])
        seen = order[:self.rng.randint(0, len(order))]
        return f"[{','.join(seen)}]"

    def transactions(self):
        """(outcome, what it did)"""
        for micro_ops in self.asked:
            outcome = self.rng.choices(["ok", "info", "fail", "none"], [8, 1.5, 1, 0.5])[0]
            words = [function + key + (value or (self.read(key) if outcome == "ok" else "_"))
                     for function, key, value in micro_ops]
            yield outcome, " ".join(words)

    def events(self):
        """On three processes at a time, of which those with an open outcome are replaced."""
        waiting, running, processes = list(self.transactions()), {}, [0, 1, 2]
        while waiting or running:
            process = self.rng.choice(processes)
            if process not in running and waiting:
                running[process] = waiting.pop(0)
                yield process, "invoke", asked(running[process][1])
            elif process in running:
                outcome, words = running.pop(process)
                if outcome != "none":
                    yield process, outcome, words if outcome == "ok" else asked(words)
                if outcome in ("info", "none"):
                    processes[processes.index(process)] = max(processes) + 1


class RandomHistories(unittest.TestCase):
    def setUp(self):
        print(f"seed {SEED}", file=sys.stderr)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def files(self, rng, registers):
        for number in range(HISTORIES):
            file = self.folder / f"{number}.edn"
            file.write_text(history_text(list(Store(rng, registers).events())))
            yield file

    def check(self, checker):
        rng, counts = random.Random(f"{checker} {SEED}"), Counter()
        registers = checker == "rw-register"
        for _ in range(ROUNDS):
            files = list(self.files(rng, registers))
            options = rng.choice(ASSUMPTIONS) if registers else []
            rules = [rules_for(histories.load(file, registers), checker, options) for file in files]
            for model in rng.sample(list(MODELS), MODELS_EACH):
                arguments = ["--checker", checker, "--model", model,
                             *(word for name in options for word in ("--option", f"{name}=true"))]
                for file, rule, verdict in zip(files, rules, verdicts(files, *arguments)):
                    certificate = None
                    proves = MODELS[model].snapshots is not None and verdict["valid"] is True
                    if proves and rng.random() < CERTIFIED:
                        verdict, certificate = certified(file, *arguments)
                    report = verify(rule, verdict, certificate)
                    self.assertEqual(report.problems, [], f"{arguments}\n{file.read_text()}")
                    counts[f"valid {verdict['valid']}"] += 1
                    counts["certificates"] += report.certificates
                    counts["steps"] += report.steps
        print(checker, dict(counts), file=sys.stderr)
        for kind in ("valid True", "valid False", "certificates", "steps"):
            self.assertGreater(counts[kind], 10, kind)

    def test_lists(self):
        self.check("list-append")

    def test_registers(self):
        self.check("rw-register")


if __name__ == "__main__":
    unittest.main()
