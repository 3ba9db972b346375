"""A campaign over combinations of values, in shards, broken off and gone on with."""
from support import *

MATRIX = """
campaign: quick.yaml
over:
  workload.list-append.isolation: [serializable, read-committed]
  faults: {none: {}, kills: {kill: {}}}
"""
CAMPAIGN = """
name: quick
hosts: {lab: netns, names: [n1]}
target: {postgres: {version: 15}}
workload: {list-append: {}}
duration: 6s
workers: 8
faults: {kill: }
schedule: {interval: 1s, duration-min: 1s, duration-max: 1s}
check: {list-append: {model: snapshot-isolation}}
"""


class Matrix(EndToEnd):
    def setUp(self):
        super().setUp()
        self.write("quick.yaml", CAMPAIGN)
        self.file = self.write("levels.matrix.yaml", MATRIX)

    def matrix(self, *arguments, **options):
        return self.ordeal("matrix", self.file, "--store", self.store, *arguments, **options)

    def verdicts(self, done):
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.out.splitlines()[2:]]
        return {int(row[0]): row[3] for row in rows}

    def runs(self):
        return sorted(path.name for path in (self.store / "quick").iterdir() if not path.is_symlink())

    def test_two_shards_make_one_table(self):
        first = self.matrix("--shard", "1/2")
        self.assert_code(first, INVALID)  # runs 1 and 3: read-committed without faults is in it
        self.assertEqual(self.verdicts(first), {1: "valid", 2: "not run", 3: "invalid", 4: "not run"})
        self.assert_code(self.matrix("--collect"), INVALID)
        runs = self.runs()
        self.assertEqual(len(runs), 2)

        second = self.matrix("--shard", "2/2")
        self.assertEqual(set(self.verdicts(second)), {1, 2, 3, 4})
        self.assertNotIn("not run", self.verdicts(second).values())
        self.assertEqual(len(self.runs()), 4)

        again = self.matrix()  # all are done
        self.assert_code(again, INVALID)
        self.assertEqual(again.out, second.out)
        self.assertEqual(len(self.runs()), 4)
        self.assert_nothing_left()

    def test_broken_off_and_gone_on(self):
        process = self.start("matrix", self.file, "--store", self.store)
        done = self.store / "matrix/levels/0001.json"
        self.wait_for(done.exists, "the first run")
        self.wait_for(lambda: len(self.runs()) == 2, "the second run")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=90)
        self.assertEqual(process.returncode, SURROUNDINGS, out + err)
        self.assertEqual(self.verdicts(Done(0, out, err))[2], "not run")
        self.assert_nothing_left()
        before = done.stat().st_mtime_ns
        self.assert_code(self.matrix("--shard", "1/4"), VALID)
        self.assertEqual(done.stat().st_mtime_ns, before)

    def test_a_mistake_in_one_combination_stops_all_before_the_first_run(self):
        self.file.write_text(MATRIX.replace("read-committed", "red-committed"))
        refused = self.matrix()
        self.assert_code(refused, BAD_INPUT)
        self.assertIn("run 3 of the matrix: ", refused.err)
        self.assertFalse((self.store / "quick").exists())


if __name__ == "__main__":
    main()
