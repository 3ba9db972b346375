#!/usr/bin/env python3
"""Verifies a verdict of `ordeal check --json` against the history, trusting nothing of Ordeal.

    tests/verifier/verify.py HISTORY VERDICT.json [CERTIFICATE] [--option wfr-keys=true]...

HISTORY is EDN, JSON or JSON lines; CERTIFICATE what `--certificate` wrote. Each anomaly is derived
again from the history. A valid verdict is proved by replaying the certificate; without one, by
deriving every edge of the history and finding nothing that the model rules out. Exits with 0 if all
is proved, else with 1, and one sentence for each thing that is not. Options are those that
rw-register was given.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import certificate
import cycles
import edn
import history as histories
from edn import shown_of_json
from list_rules import ListRules
from models import MODELS, forbids
from register_rules import OPTIONS, RegisterRules
from rules import Edge, Fact


@dataclass
class Report:
    """What was not proved, and how much was."""
    problems: list = field(default_factory=list)
    steps: int = 0
    anomalies: int = 0
    certificates: int = 0

    def add(self, sentence):
        self.problems.append(sentence)

    def __str__(self):
        return (f"{self.anomalies} anomalies with {self.steps} steps and {self.certificates} "
                "certificates verified")


class Verifier:
    """Compares one verdict with one history."""

    def __init__(self, rules, verdict):
        self.history = rules.history
        self.rules = rules
        self.verdict = verdict
        self.model = verdict.get("model")
        self.report = Report()

    def run(self, content=None):
        if self.verdict.get("checker") not in ("list-append", "rw-register"):
            self.report.add(f"checker {self.verdict.get('checker')} is not known to this verifier")
        elif self.model not in MODELS:
            self.report.add(f"model {self.model} is not known to this verifier")
        else:
            self.check_counts()
            self.check_anomalies()
            self.check_validity(content)
        return self.report

    def check_counts(self):
        for name, mine in (("operations", self.history.operations),
                           ("transactions", self.history.counts())):
            if self.verdict.get(name) != mine:
                self.report.add(f"{name} are {mine}, not {self.verdict.get(name)}")

    def check_anomalies(self):
        self.proved = set()
        for number, anomaly in enumerate(self.verdict.get("anomalies", []), 1):
            before = len(self.report.problems)
            where = f"anomaly {number} ({anomaly.get('type')})"
            if anomaly.get("steps"):
                self.check_cycle(where, anomaly)
            else:
                self.check_fact(where, anomaly)
            if len(self.report.problems) == before:
                self.proved.add(anomaly["type"])
                self.report.anomalies += 1
        self.check_types()

    def check_types(self):
        for name in ("anomaly_types", "anomaly_types_beyond"):
            for type_name in self.verdict.get(name, []):
                if type_name not in self.proved:
                    self.report.add(f"{name} has {type_name}, of which no anomaly was verified")
                if forbids(self.model, type_name) == (name == "anomaly_types_beyond"):
                    word = "allows" if name == "anomaly_types" else "rules out"
                    self.report.add(f"{name} has {type_name}, which {self.model} {word}")

    def check_fact(self, where, anomaly):
        claim = Fact(anomaly.get("type"), tuple(anomaly.get("operations", [])),
                     shown_of_json(anomaly.get("key")),
                     tuple(shown_of_json(value) for value in anomaly.get("values", [])))
        if self.verdict["checker"] == "rw-register" and claim.type == "cyclic-versions":
            known = in_set_order(claim) in {in_set_order(fact) for fact in self.rules.facts}
        else:
            known = claim in self.rules.facts
        if not known:
            operations = ", ".join(str(index) for index in claim.operations) or "none"
            values = json.dumps(anomaly.get("values", []), ensure_ascii=False)
            self.report.add(f"{where}: the history does not show it of operations {operations}, "
                            f"key {anomaly.get('key')} and values {values}")

    def check_cycle(self, where, anomaly):
        steps = anomaly["steps"]
        for number, step in enumerate(steps, 1):
            self.check_step(f"{where}, step {number}", step)
            following = steps[number % len(steps)]
            if step.get("to") != following.get("from"):
                self.report.add(f"{where}: step {number} leads to operation {step.get('to')}, but the "
                                f"next one starts at {following.get('from')}, so there is no circle")
        right = cycles.name_of([step.get("edge") for step in steps])
        if anomaly.get("type") != right:
            self.report.add(f"{where}: a circle of these edges is {right}")

    def check_step(self, where, step):
        edge = edge_of(step)
        wrong = self.order_step(edge) if edge.kind in ("process", "realtime") else self.data_step(edge)
        if wrong:
            self.report.add(f"{where}: {wrong}")
        else:
            self.report.steps += 1

    def order_step(self, edge):
        """Why it does not follow; "" if it does."""
        first, second = (self.history.by_index.get(index) for index in edge[:2])
        for txn, index in ((first, edge.start), (second, edge.end)):
            if txn is None or index not in self.rules.committed:
                return f"operation {index} is no transaction that is known to have committed"
        if edge[3:] != (None, None, None):
            return f"a {edge.kind} edge has no key or value"
        if edge.kind == "process" and first.process != second.process:
            return f"operations {edge.start} and {edge.end} are of different processes"
        if not second.begins_after(first):
            return f"operation {edge.start} had not completed before operation {edge.end} was invoked"
        return ""

    def data_step(self, edge):
        if edge in self.rules.edges:
            return ""
        alike = sorted(words(other) for other in self.rules.edges if other[:2] == edge[:2])
        instead = f"; the history shows {' and '.join(alike)}" if alike else ""
        return f"the history does not show {words(edge)}{instead}"

    def check_validity(self, content):
        valid = self.verdict.get("valid")
        if valid is False and not any(forbids(self.model, name) for name in self.proved):
            self.report.add(f"the verdict is invalid, but no verified anomaly is one that {self.model} "
                            "rules out")
        if valid is True:
            self.check_valid(content)
        is_violated = self.model in self.verdict.get("all_violated", [])
        if valid in (True, False) and is_violated == valid:
            self.report.add(f"valid is {valid}, but all_violated has {self.model}: {is_violated}")

    def check_valid(self, content):
        if content is not None:
            wrong = certificate.problems(self.history, content, MODELS[self.model])
            self.report.certificates += not wrong
        else:
            wrong = [f"the verdict is valid, but the history has {name}, which {self.model} rules out"
                     for name in sorted(self.present()) if forbids(self.model, name)]
        self.report.problems += wrong

    def present(self):
        """Every type of anomaly that the history has."""
        return {fact.type for fact in self.rules.required_facts} | cycles.all_types(self.rules)


def rules_for(history, checker, options=()):
    """What the history shows; one may be used for several verdicts of the same checker and options."""
    return RegisterRules(history, options) if checker == "rw-register" else ListRules(history)


def in_set_order(fact):
    """Versions that come before one another have no order of their own, nor have their writers."""
    return fact._replace(operations=tuple(sorted(fact.operations)),
                         values=tuple(sorted(fact.values, key=str)))


def edge_of(step):
    def member(name):
        return shown_of_json(step[name]) if name in step else None
    return Edge(step.get("from"), step.get("to"), step.get("edge"), member("key"), member("value"),
                member("next_value"))


def words(edge):
    """An edge in one line."""
    def word(value):
        return "nothing" if value is None else str(value[1])
    versions = word(edge.value)
    if edge.kind != "wr" or edge.next_value:
        versions += f" then {word(edge.next_value)}"
    return f"{edge.start} -{edge.kind}-> {edge.end} by key {word(edge.key)}: {versions}"


def verify(rules, verdict, content=None):
    """The report of one verdict. All arguments are read already; `content` is the certificate's."""
    return Verifier(rules, verdict).run(content)


def verify_files(files, options):
    """The same, of a history, a verdict, and a certificate or None."""
    verdict, content = (Path(file).read_text(encoding="utf-8") if file else None for file in files[1:])
    verdict = json.loads(verdict)
    if not isinstance(verdict, dict):
        raise ValueError(f"{files[1]} is not a verdict, an object")
    history = histories.load(files[0], verdict.get("checker") == "rw-register")
    return verify(rules_for(history, verdict.get("checker"), options), verdict, content)


def main(arguments):
    options = [arguments.pop(at + 1) for at in reversed(range(len(arguments)))
               if arguments[at] == "--option"]
    files = [argument for argument in arguments[1:] if argument != "--option"]
    unknown = [option for option in options if option.split("=")[0] not in OPTIONS]
    if not 2 <= len(files) <= 3 or unknown:
        sys.exit(__doc__)
    enabled = {option.split("=")[0] for option in options if option.endswith("=true")}
    try:
        report = verify_files((files + [None])[:3], enabled)
    except (edn.Malformed, OSError, ValueError) as error:
        print(f"not proved: {error}")
        return 1
    print("\n".join(report.problems) or str(report))
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
