#!/usr/bin/env python3
"""Checks the repository itself: that includes follow the table of dependencies between directories,
that files stay short and say what they are for, and that each directory is tested.

    tests/tidy/tidy_test.py [ROOT]      prints "file:line: what is wrong", exits with 1 if anything is

It reads files only, and needs neither a build nor git. tidy_self_test.py shows that each rule can fail.
"""

import pathlib
import re
import sys

# What each directory may include, besides itself. A file name allows that one header only.
DEPENDENCIES = {
    "base": [],
    "history": ["base"],
    "remote": ["base"],
    "checkers": ["base", "history"],
    "workloads": ["base", "history"],
    "targets": ["base", "history", "remote"],
    "nemesis": ["base", "history", "remote", "targets"],
    "orchestrator": ["base", "history", "remote", "workloads", "targets", "nemesis",
                     "checkers/checker.h"],
    "report": ["base", "history", "checkers"],
}
UNRESTRICTED = {"cli", "tests"}
GENERATED_ALLOWED = {"history", "tests"}  # *.pb.h: the wire format stays behind history's interface

TESTED_BY = {"cli": "e2e"}  # its tests run the whole program

LINES_MAX = 400
COLUMNS_MAX = 100
LONG_FILES = {}  # path -> why it can't be split

SOURCES = {".h", ".cc"}
TEXTS = SOURCES | {".py", ".cmake", ".md", ".yaml", ".yml", ".proto", ".sh", ".j2"}
SKIPPED = {"build", "store"}  # and everything hidden

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Written in halves so that this file passes its own check.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")
REGISTRIES = re.compile("|".join(re.escape(host) for host in [
    "pypi" + ".org", "files.python" + "hosted.org", "registry." + "npmjs.org", "crates" + ".io",
    "proxy." + "golang.org", "repo1." + "maven.org", "repo.maven" + ".apache.org",
    "deb." + "debian.org", "security." + "debian.org"]))


def top(path):
    return path.parts[0] if len(path.parts) > 1 else ""


def text_files(root):
    """Relative paths of the files to check, sorted."""
    found = []
    for path in root.rglob("*"):
        relative = path.relative_to(root)
        if relative.parts[0] in SKIPPED or any(part.startswith(".") for part in relative.parts):
            continue
        if not path.is_file() or path.is_symlink():
            continue
        is_script = top(relative) == "scripts" and path.suffix == ""
        if path.suffix in TEXTS or path.name == "CMakeLists.txt" or is_script:
            found.append(relative)
    return sorted(found)


def check_includes(path, lines):
    """Includes follow DEPENDENCIES, and are relative to the root where they name a directory."""
    directory = top(path)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        if included.endswith(".pb.h") and directory not in GENERATED_ALLOWED:
            yield number, f"includes {included}; generated headers are for history/ only"
            continue
        if directory in UNRESTRICTED or included.endswith(".pb.h"):
            continue
        if "/" not in included or included.startswith("."):
            yield number, f'includes "{included}"; name it from the root, e.g. "base/result.h"'
            continue
        if directory not in DEPENDENCIES:
            yield number, f"{directory}/ is not in the table of dependencies of {__file__}"
            return
        allowed = [directory] + DEPENDENCIES[directory]
        if included not in allowed and included.split("/")[0] not in allowed:
            yield number, f"includes {included}; {directory}/ may use only {', '.join(allowed)}"


def check_length(path, lines):
    name = str(path)
    if len(lines) > LINES_MAX and name not in LONG_FILES:
        yield LINES_MAX + 1, f"has {len(lines)} lines; split it, at most {LINES_MAX} are allowed"
    if len(lines) <= LINES_MAX and name in LONG_FILES:
        yield 1, "is short now; take it off LONG_FILES"


def check_columns(_path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            yield number, f"has {len(line)} columns; at most {COLUMNS_MAX} are allowed"


def check_header(_path, lines):
    """A header opens with what it is for."""
    if not lines or not lines[0].startswith("// ") or len(lines[0]) < 20:
        yield 1, "does not open with a comment that says what the file is for"
    if "#pragma once" not in lines:
        yield 1, "has no #pragma once"


def check_script(_path, lines):
    opening = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    if not opening or not opening[0].startswith(('"""', "# ")):
        yield 1, "does not open with a docstring or comment that says what the file is for"


def check_text(path, lines):
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield number, "has a tab; indent with spaces"
        if line != line.rstrip():
            yield number, "ends in white space"
        if UNFINISHED.search(line):
            yield number, "marks unfinished work; do it, or file an issue"
        if REGISTRIES.search(line):
            yield number, "names the host of a package registry; let the client's settings choose"


def rules_for(path):
    yield check_text
    if path.suffix in SOURCES:
        yield from (check_includes, check_length, check_columns)
    if path.suffix == ".h":
        yield check_header
    if path.suffix in {".py", ".sh"} or top(path) == "scripts":
        yield from (check_script, check_length)


def check_tests(files):
    """Every directory with code has a test of the same name under tests/."""
    directories = {top(path) for path in files if path.suffix == ".cc"} - {"tests", ""}
    tested = {path.parts[1] for path in files
              if top(path) == "tests" and path.name.endswith(("_test.cc", "_test.py"))}
    for directory in sorted(directories):
        tests = TESTED_BY.get(directory, directory)
        if tests not in tested:
            yield f"{directory}: has code, but tests/{tests}/ has no *_test.cc or *_test.py"


def violations(root):
    """All that is wrong under `root`, one line each."""
    files = text_files(root)
    found = []
    for path in files:
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            found.append(f"{path}:1: is not UTF-8: {error}")
            continue
        lines = text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        elif lines:
            found.append(f"{path}:{len(lines)}: does not end in a newline")
        for rule in rules_for(path):
            found += [f"{path}:{number}: {problem}" for number, problem in rule(path, lines)]
    missing = [name for name in LONG_FILES if pathlib.Path(name) not in files]
    found += [f"{name}: is listed in LONG_FILES, but does not exist" for name in missing]
    return found + list(check_tests(files))


def main(arguments):
    default = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(arguments[1]).resolve() if len(arguments) > 1 else default
    found = violations(root)
    print("\n".join(found) if found else f"{len(text_files(root))} files are tidy.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
