"""What the tests here share: transactions in shorthand, histories as text, and Ordeal's answers.

"ax1 ry[1,2] rz_" appends 1 to x, reads [1 2] from y, and asks for z; "wx1 rx1" writes and reads a
register. An event is (process, phase, shorthand); the environment's ORDEAL names the program.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import history as histories
from verify import rules_for, verify

HISTORIES = Path(__file__).resolve().parents[1] / "histories"
FUNCTIONS = {"a": ":append", "w": ":w", "r": ":r"}
MICRO_OP = re.compile(r"([awr])([a-z]+)(.+)")


def micro_op(word):
    function, key, value = MICRO_OP.fullmatch(word).groups()
    value = "nil" if value == "_" else value.replace(",", " ")
    return f"[{FUNCTIONS[function]} :{key} {value}]"


def event_text(index, event):
    process, phase, words = event
    value = "[" + " ".join(micro_op(word) for word in words.split()) + "]"
    return f"{{:index {index}, :type :{phase}, :process {process}, :f :txn, :value {value}}}\n"


def history_text(events):
    return "".join(event_text(index, event) for index, event in enumerate(events))


def asked(words):
    """An invocation's shorthand: reads without their values."""
    return " ".join(re.sub(r"^(r[a-z]+).*", r"\1_", word) for word in words.split())


def one_by_one(transactions):
    """Events of transactions (process, phase, shorthand), each after the other."""
    return [event for process, phase, words in transactions
            for event in ((process, "invoke", asked(words)), (process, phase, words))]


def at_once(transactions):
    """Events of transactions that are all under way together; completions in order."""
    invocations = [(process, "invoke", asked(words)) for process, _, words in transactions]
    return invocations + list(transactions)


def ordeal():
    return os.environ.get("ORDEAL") or sys.exit("set ORDEAL to the program under test")


def verdicts(files, *arguments):
    """Ordeal's verdict of each file."""
    done = subprocess.run([ordeal(), "check", "--json", *map(str, files), *arguments],
                          capture_output=True, text=True, check=False, timeout=300)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(files):
        raise AssertionError(f"{len(found)} verdicts of {len(files)} histories: {done.stderr}")
    return found


def verdict_of_text(text, *arguments):
    """Ordeal's verdict of one history, given as EDN."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "history.edn"
        path.write_text(text, encoding="utf-8")
        return verdicts([path], *arguments)[0]


def certified(file, *arguments):
    """Ordeal's verdict and certificate of one file; None where it wrote none."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "certificate"
        verdict = verdicts([file], "--certificate", str(path), *arguments)[0]
        return verdict, path.read_text(encoding="utf-8") if path.exists() else None


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
