"""A reader for EDN, as far as Jepsen's histories use it, and values that compare as they should.

A parsed form is a Python int, str, bool, None, Atom (keyword, symbol, character, float, ratio),
list (vector or list), Map or Set. scalar() makes of it what keys and elements are compared by: a
pair of kind and content, so that 1 differs from true and "x" from :x.
"""

import re

BLANK = re.compile(r"(?:[\s,]+|;[^\n]*)*")
TOKEN = re.compile(r'[^\s,;"()\[\]{}]+')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
INTEGER = re.compile(r"[+-]?\d+N?$")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
CLOSING = {"[": "]", "(": ")", "{": "}"}
NAMED = {"nil": None, "true": True, "false": False}


class Atom(str):
    """A form that is its text: :keyword, symbol, \\c, 1.5."""


class Map(list):
    """Pairs, in the order of the file."""

    def get(self, name):
        """The value under keyword :name; None where there is none."""
        for key, value in self:
            if key == ":" + name:
                return value
        return None


class Set(list):
    """Elements, in the order of the file."""


class Malformed(Exception):
    """The text is not what it should be."""


class Reader:
    """Reads forms from text, one after the other."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, expected):
        raise Malformed(f"line {self.text.count(chr(10), 0, self.at) + 1}: expected {expected}")

    def skip_blank(self):
        """To the next character that counts; past discarded forms, too."""
        while True:
            self.at = BLANK.match(self.text, self.at).end()
            if not self.text.startswith("#_", self.at):
                return
            self.at += 2
            self.form()

    def peek(self):
        self.skip_blank()
        return self.text[self.at] if self.at < len(self.text) else ""

    def form(self):
        first = self.peek()
        if first == '"':
            return self.string()
        if first in CLOSING:
            self.at += 1
            items = self.items(CLOSING[first])
            return self.map(items) if first == "{" else items
        if first == "#":
            return self.dispatch()
        return self.token()

    def dispatch(self):
        if self.text.startswith("#{", self.at):
            self.at += 2
            return Set(self.items("}"))
        self.token()  # a tag, which says how to print the form after it
        return self.form()

    def items(self, closing):
        found = []
        while self.peek() != closing:
            if self.at >= len(self.text):
                self.fail(f"a {closing}")
            found.append(self.form())
        self.at += 1
        return found

    def map(self, items):
        if len(items) % 2:
            self.fail("a value for each key of a map")
        return Map(zip(items[::2], items[1::2]))

    def string(self):
        match = STRING.match(self.text, self.at)
        if not match:
            self.fail("the end of a string")
        self.at = match.end()
        return ESCAPE.sub(unescape, match.group(1))

    def token(self):
        match = TOKEN.match(self.text, self.at)
        if not match:
            self.fail("a form")
        self.at = match.end()
        token = match.group()
        if INTEGER.match(token):
            return int(token.rstrip("N"))
        return NAMED[token] if token in NAMED else Atom(token)


def unescape(match):
    code = match.group(1)
    return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPES.get(code, code)


def forms(text):
    """All forms of a text."""
    reader = Reader(text.removeprefix("\ufeff"))
    found = []
    while reader.peek():
        found.append(reader.form())
    return found


def text(form):
    """A form as EDN prints it."""
    if isinstance(form, Atom):
        return str(form)
    if isinstance(form, str):
        return quoted(form)
    if isinstance(form, Map):
        return "{" + ", ".join(f"{text(key)} {text(value)}" for key, value in form) + "}"
    if isinstance(form, list):
        opening, closing = ("#{", "}") if isinstance(form, Set) else ("[", "]")
        return opening + " ".join(text(item) for item in form) + closing
    for name, value in NAMED.items():
        if form is value:
            return name
    return str(form)


def quoted(string):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        string = string.replace(plain, escaped)
    return f'"{string}"'


NIL = ("null", None)


def in_order(form):
    """The same form, spelled in one way: the order of a map's entries and a set's elements does not count."""
    if isinstance(form, Map):
        return Map(sorted(((in_order(key), in_order(value)) for key, value in form),
                          key=lambda entry: text(entry[0])))
    if isinstance(form, Set):
        return Set(sorted(map(in_order, form), key=text))
    return [in_order(item) for item in form] if isinstance(form, list) else form


def scalar(form):
    """What a key or element is compared by."""
    if form is None:
        return NIL
    if isinstance(form, bool):
        return ("bool", form)
    if isinstance(form, int):
        return ("int", form)
    if isinstance(form, str) and not isinstance(form, Atom):
        return ("str", form)
    return ("edn", text(in_order(form)))


def shown(value):
    """A scalar as verdicts print it: strings and other EDN can not be told apart there."""
    kind, content = value
    return ("text", content) if kind in ("str", "edn") else value


def shown_of_json(value):
    """The same, of a value in a verdict."""
    if value is None:
        return NIL
    if isinstance(value, bool):
        return ("bool", value)
    return ("int", value) if isinstance(value, int) else ("text", str(value))
