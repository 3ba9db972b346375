#!/usr/bin/env python3
"""Shows that each rule of tidy_test.py fails on a planted violation, and passes without it."""

import pathlib
import tempfile
import unittest

import tidy_test

HEADER = "// What this file is for, in a sentence.\n#pragma once\n"


class TidyTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="ordeal-tidy-")
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.write("tests/base/base_test.cc", '#include "checkers/checker.h"\n')
        self.write("base/good.h", HEADER)
        self.write("base/good.cc", '#include "base/good.h"\n\n#include <string>\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def found(self):
        return tidy_test.violations(self.root)

    def assert_found(self, *expected):
        """Exactly these, each given by a part of its line."""
        found = self.found()
        self.assertEqual(len(found), len(expected), found)
        for line, part in zip(found, expected):
            self.assertIn(part, line)

    def test_clean_tree_passes(self):
        self.assert_found()

    def test_include_against_the_table(self):
        self.write("base/bad.h", HEADER + '#include "history/history.h"\n')
        self.assert_found("base/bad.h:3: includes history/history.h; base/ may use only base")

    def test_orchestrator_sees_only_the_contract_of_checkers(self):
        self.write("tests/orchestrator/run_test.cc", "")
        self.write("orchestrator/run.cc",
                   '#include "checkers/checker.h"\n#include "checkers/cycles/graph.h"\n')
        self.assert_found("orchestrator/run.cc:2: includes checkers/cycles/graph.h")

    def test_generated_headers_stay_in_history(self):
        self.write("tests/history/a_test.cc", "")
        self.write("history/a.cc", '#include "proto/history.pb.h"\n')
        self.write("tests/report/a_test.cc", "")
        self.write("report/a.cc", '#include "proto/history.pb.h"\n')
        self.assert_found("report/a.cc:1: includes proto/history.pb.h; generated")

    def test_cli_and_tests_may_include_anything(self):
        self.write("tests/e2e/run_test.py", '"""Runs it."""\n')
        self.write("tests/cli/cli_test.cc", '#include "orchestrator/run.h"\n#include "here.h"\n')
        self.write("cli/main.cc", '#include "orchestrator/run.h"\n#include "report/verdict_text.h"\n')
        self.assert_found()

    def test_include_relative_to_the_file(self):
        self.write("base/bad.cc", '#include "good.h"\n#include "../base/good.h"\n')
        self.assert_found("name it from the root", "name it from the root")

    def test_directory_missing_from_the_table(self):
        self.write("tests/extra/extra_test.cc", "")
        self.write("extra/extra.cc", '#include "base/good.h"\n')
        self.assert_found("extra/ is not in the table")

    def test_long_file(self):
        self.write("base/long.cc", "\n" * (tidy_test.LINES_MAX + 1))
        self.assert_found("base/long.cc:401: has 401 lines")

    def test_exemptions_go_stale(self):
        tidy_test.LONG_FILES.update({"base/good.cc": "reason", "base/gone.cc": "reason"})
        self.addCleanup(tidy_test.LONG_FILES.clear)
        self.assert_found("base/good.cc:1: is short now", "base/gone.cc: is listed")

    def test_long_line_counts_characters(self):
        self.write("base/wide.cc", "// " + "ä" * 97 + "\n// " + "ä" * 98 + "\n")
        self.assert_found("base/wide.cc:2: has 101 columns")

    def test_header_without_purpose_or_guard(self):
        self.write("base/bad.h", "int f();\n")
        self.assert_found("what the file is for", "no #pragma once")

    def test_script_without_purpose(self):
        self.write("scripts/run", "#!/bin/bash\nset -e\n")
        self.write("scripts/ok", "#!/bin/bash\n# Runs it.\n")
        self.assert_found("scripts/run:1: does not open")

    def test_white_space_and_unfinished_work(self):
        self.write("docs/a.md", "a\tb\nend \n" + "TO" + "DO: more\nhttps://pypi" + ".org/x\nlast")
        self.assert_found("a.md:5: does not end in a newline", "a.md:1: has a tab",
                          "a.md:2: ends in white", "a.md:3: marks unfinished",
                          "a.md:4: names the host")

    def test_directory_without_test(self):
        self.write("report/a.cc", "")
        self.assert_found("report: has code, but tests/report/ has no *_test.cc")

    def test_build_and_hidden_directories_are_skipped(self):
        self.write("build/a.cc", "\t\n")
        self.write(".cache/a.cc", "\t\n")
        self.assert_found()

    def test_bytes_that_are_no_text(self):
        (self.root / "base/bad.cc").write_bytes(b"\xff\n")
        self.assert_found("base/bad.cc:1: is not UTF-8")


if __name__ == "__main__":
    unittest.main()
