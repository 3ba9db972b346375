"""Schedules that are drawn, written and replayed, and what a run tells of the faults it made."""
from support import *

CAMPAIGN = """
name: faults
hosts: {lab: netns, names: [n1]}
target: {postgres: {version: 15}}
workload: {list-append: {isolation: serializable}}
duration: 20s
workers: 5
faults:
  partition:
  kill:
  pause:
schedule: {interval: 500ms, duration-min: 500ms, duration-max: 1s, quiet-start: 1s, quiet-end: 1s, recovery: 500ms}
check:
  list-append: {model: snapshot-isolation}
"""


class Faults(EndToEnd):
    def run_campaign(self, *arguments):
        campaign = self.write("faults.yaml", CAMPAIGN)
        return self.ordeal("run", campaign, "--store", self.store, "--json", *arguments)

    def test_coverage_counts_what_was_measured_and_the_log_says_it_in_words(self):
        done = self.run_campaign()
        self.assert_code(done, VALID)
        coverage = done.json()["run"]["coverage"]
        self.assertEqual({row["fault"] for row in coverage}, {"partition", "kill", "pause"})
        for row in coverage:
            if row["fault"] == "partition":
                self.assertEqual(row["where"], "client-db")
                self.assertIn(row["direction"], ("upstream", "downstream", "both"))
                self.assertIn("got no answer", row["effect"])
            else:
                self.assertEqual(row["where"], "all servers")
                self.assertRegex(row["effect"], "n1: processes are (absent|stopped)")
        log = (self.store / "latest/faults.log").read_text()
        for words in ("kill begins: SIGKILL to the database on n1", "kill is in effect: n1: processes are absent",
                      "kill is healed: n1: processes are running", "partition begins: packets of client-db"):
            self.assertIn(words, log)

    def test_the_executed_schedule_replays(self):
        # Whether so short a run makes progress everywhere is not the point.
        short = ("--duration", "8s", "--complexity", "low")
        self.assertIn(self.run_campaign(*short).code, (VALID, UNKNOWN))
        first = (self.store / "latest/schedule.yaml").read_text()
        self.assertRegex(first, r"(?m)^  - at \S+ for \S+: kill n1$")
        kept = self.write("kept.yaml", first)
        self.assertIn(self.run_campaign(*short, "--schedule", kept).code, (VALID, UNKNOWN))
        again = (self.store / "latest/schedule.yaml").read_text()
        self.assertTrue(first.startswith(again.rstrip()), again)  # of a slow host, less

    def test_a_written_schedule_is_followed(self):
        written = self.write("written.yaml", "steps:\n- at 1s for 500ms: kill\n"
                                             "- at 3s for 1s: partition direction=upstream\n")
        done = self.run_campaign("--duration", "6s", "--schedule", written)
        self.assert_code(done, VALID)
        self.assertEqual(done.json()["run"]["faults"], {"kill": 1, "partition": 1})

    def test_a_written_schedule_that_makes_no_sense_is_refused_before_servers_start(self):
        for text, words in (("steps:\n- at 1s: kil n1\n", "kill"), ("steps:\n- soon: kill n1\n", "at 12s for 4s"),
                            ("steps: 3\n", "expected a list"), ("- at 1s: kill\n", "expected a map"),
                            ("steps:\n- at 1s: partition legs=x\n", "client-db"),
                            ("steps:\n- at 1s: partition n1\n", "takes no hosts"),
                            ("steps:\n- at 1s: latency latency=-200\n", "latency"),
                            ("steps:\n- at 1s: latency toxicity=7\n", "expected a number"),
                            ("steps:\n- at 1s: clock-skew n1 offset=banana\n", "expected a number"),
                            ("steps:\n- at 1s: packet-delay\n", "netem"),
                            ("steps:\n- at 500s: kill n1\n", "chaos ends at 20s")):
            done = self.run_campaign("--schedule", self.write("wrong.yaml", text))
            self.assert_code(done, BAD_INPUT)
            if "netem" not in words:
                self.assertIn("wrong.yaml", done.err)
            self.assertIn(words, done.err)
            self.assertNotIn("starting postgres", done.err)

    def test_disk_faults_that_a_host_cannot_do_are_refused_before_servers_start(self):
        for disk, fault, words in (("", "disk-full: {}", "cannot be done on host n1: it lacks a disk of its own"),
                                   ("", "disk-readonly: {}", "cannot be done on host n1: it lacks a disk of its own"),
                                   (", disk: 256", "disk-full: {max-size: 16}", "more than max-size (16 MiB)")):
            campaign = CAMPAIGN.replace("names: [n1]", "names: [n1]" + disk).replace("partition:", fault)
            refused = self.ordeal("run", self.write("disk.yaml", campaign), "--store", self.store)
            self.assert_code(refused, BAD_INPUT)
            self.assertRegex(refused.err, rf"disk\.yaml:9:3: fault {fault.split(':')[0]} ")
            self.assertIn(words, refused.err)
            self.assertNotIn("starting postgres", refused.err)

    def test_lists_tell_what_faults_need_and_take_and_where_they_strike(self):
        faults = self.ordeal("list", "faults").out
        self.assertIn("strikes legs; needs netem (sch_netem) in the host's kernel, root\n", faults)
        self.assertIn("strikes servers; needs strace, and the right to attach it\n", faults)
        self.assertRegex(faults, r"calls .* \(one of sync, write; default write\)\n")
        targets = self.ordeal("list", "targets").out
        self.assertIn("    roles: db, primary, standby; legs: client-db, replication, subscription\n", targets)

    def test_a_fault_that_finds_nothing_to_strike_is_refused(self):
        done = self.run_campaign("--set", "faults.partition-hosts.shape=one")
        self.assert_code(done, BAD_INPUT)
        self.assertIn("fault partition-hosts finds nothing to strike", done.err)


if __name__ == "__main__":
    main()
