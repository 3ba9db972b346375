"""Histories as a list of transactions, read from Jepsen's EDN, JSON (an array) or JSON lines.

Which micro-operations of a transaction count: those of its completion, where it has any, else those
of its invocation; a value that the completion lacks is the invocation's.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import edn
from edn import Atom, Malformed, Map, scalar

FUNCTIONS = {"r": "r", "append": "append", "w": "w"}


@dataclass
class Operation:
    """One event of the history."""
    position: int
    index: int
    phase: str
    process: tuple
    micro_ops: list  # None: not a transaction


@dataclass
class MicroOp:
    """value: of a read None where unknown, a tuple of scalars for a list, else a scalar."""
    function: str
    key: tuple
    value: object


@dataclass
class Transaction:
    """Positions are places in the file, None where the event is missing."""
    index: int  # what verdicts and certificates call it
    process: tuple
    status: str  # ok, fail, info
    invoked: int
    completed: int
    micro_ops: list

    def reads(self, key=None):
        """Those whose value is known: an info transaction's invocation does not tell."""
        return [op for op in self.micro_ops
                if op.function == "r" and op.value is not None and key in (None, op.key)]

    def writes(self, key=None):
        return [op for op in self.micro_ops if op.function != "r" and key in (None, op.key)]

    def begins_after(self, other):
        """Whether `other` had completed, for sure, before this was invoked."""
        return (other.status == "ok" and self.invoked is not None
                and other.completed < self.invoked)


@dataclass
class History:
    operations: int
    transactions: list
    is_register: bool  # else of lists
    by_index: dict = field(default_factory=dict)

    def __post_init__(self):
        self.by_index = {txn.index: txn for txn in self.transactions}

    def counts(self):
        counts = {"ok": 0, "fail": 0, "info": 0}
        for txn in self.transactions:
            counts[txn.status] += 1
        return counts


def from_json(value):
    """JSON in the terms of EDN. Names such as "ok" may be written ":ok"."""
    if isinstance(value, dict):
        return Map((Atom(":" + key.removeprefix(":")), from_json(item)) for key, item in value.items())
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if isinstance(value, str) and value.startswith(":"):
        return Atom(value)
    return value


def json_events(text):
    try:
        whole = json.loads(text, parse_float=Atom)
    except json.JSONDecodeError:
        whole = [json.loads(line, parse_float=Atom) for line in text.splitlines() if line.strip()]
    return [from_json(event) for event in (whole if isinstance(whole, list) else [whole])]


def edn_events(text):
    forms = edn.forms(text)
    is_vector = len(forms) == 1 and isinstance(forms[0], list) and not isinstance(forms[0], Map)
    return forms[0] if is_vector else forms


def plain(name):
    """ok of :ok."""
    return str(name).removeprefix(":")


def micro_op(form, is_ok):
    if not isinstance(form, list) or len(form) != 3 or plain(form[0]) not in FUNCTIONS:
        raise Malformed(f"{edn.text(form)} is not a micro-operation")
    function, value = plain(form[0]), form[2]
    if type(value) is list and function == "r":
        return MicroOp(function, scalar(form[1]), tuple(scalar(item) for item in value))
    unknown = value is None and not is_ok
    return MicroOp(function, scalar(form[1]), None if unknown else scalar(value))


def operation(position, event):
    function, value, phase = event.get("f"), event.get("value"), plain(event.get("type"))
    process = event.get("process")
    is_txn = plain(function) == "txn" or function is None and isinstance(value, list)
    if process is None or not is_txn or not isinstance(process, int):
        micro_ops = None
    else:
        micro_ops = [micro_op(form, phase == "ok") for form in value or []]
    index = event.get("index")
    return Operation(position, position if index is None else index, phase, scalar(process), micro_ops)


def merged(completion, invocation):
    """The completion's micro-operations, with the invocation's values where it lacks one."""
    if not completion.micro_ops:
        return invocation.micro_ops
    asked = [op.value for op in invocation.micro_ops]
    if len(asked) == len(completion.micro_ops):
        for op, value in zip(completion.micro_ops, asked):
            if op.function != "r" and op.value in (None, edn.NIL):
                op.value = value
    return completion.micro_ops


def transaction(invocation, completion):
    """Of an invocation and its completion, one of which may be None."""
    status = completion.phase if completion else "info"
    named = completion if completion and (status != "info" or not invocation) else invocation
    micro_ops = (invocation or completion).micro_ops
    if invocation and completion:
        micro_ops = merged(completion, invocation)
    return Transaction(named.index, named.process, status,
                       invocation.position if invocation else None,
                       completion.position if completion else None, micro_ops)


def transactions(operations):
    """In order of invocation."""
    open_by_process, found = {}, []
    for op in operations:
        if op.micro_ops is None:
            continue
        if op.phase == "invoke":
            pair = [op, None]
            found.append(pair)
            open_by_process[op.process] = pair
        elif op.process in open_by_process:
            open_by_process.pop(op.process)[1] = op
        else:
            found.append([None, op])
    return [transaction(*pair) for pair in found]


def has_registers(found):
    return any(op.function == "w" for txn in found for op in txn.micro_ops)


def load(path, is_register=None):
    """The history in a file, of registers if there are writes and nothing else is said; Malformed or
    OSError where there is none."""
    text = Path(path).read_text(encoding="utf-8-sig")
    is_json = re.match(r"\s*(\[\s*)?\{\s*\"", text)
    try:
        events = json_events(text) if is_json else edn_events(text)
    except json.JSONDecodeError as error:
        raise Malformed(str(error)) from error
    found = transactions([operation(position, event) for position, event in enumerate(events)])
    history = History(len(events), found, has_registers(found) if is_register is None else is_register)
    if not history.is_register:
        lists_in(history)
    return history


def lists_in(history):
    """An ok read of nil is one of the empty list where the history has lists."""
    for txn in history.transactions:
        for op in txn.micro_ops:
            if op.function == "r" and op.value == edn.NIL:
                op.value = ()
