"""A cluster of three members of etcd under real faults: what it promises, and what a campaign gives up."""
from support import *

STALE = """
steps:
- at 2s for 4s: partition-hosts grudge=n1!n2,n1!n3,n2!n1,n3!n1
- at 8s for 4s: partition-hosts grudge=n2!n1,n2!n3,n1!n2,n3!n2
"""
LISTS = """
name: etcd-lists
hosts: {lab: netns, names: [n1, n2, n3]}
target: {etcd: {operation-timeout: 2s}}
workload: {list-append: {}}
workers: 6
duration: 14s
check: {list-append: {model: strict-serializable}}
"""


class Etcd(EndToEnd):
    def found(self, done):
        verdict = done.json()
        return set(verdict["anomaly_types"]) | set(verdict.get("anomaly_types_beyond", []))

    def isolating(self, campaign, reads):
        """Two members are cut off from the others, one after the other."""
        return self.run_campaign(campaign, "--json", "--duration", "14s", "--set", f"target.etcd.reads={reads}",
                                 "--schedule", self.write("steps.yaml", STALE))

    def test_linearizable_reads_keep_the_promise_under_all_faults(self):
        done = self.run_campaign("etcd-registers", "--json", "--duration", "20s")
        self.assert_code(done, VALID)
        verdict = done.json()
        self.assertGreater(verdict["transactions"]["ok"], 200)
        self.assertEqual({row["fault"] for row in verdict["run"]["coverage"]}, {"partition-hosts", "kill", "pause"})
        for host in ("n1", "n2", "n3"):
            self.assertIn("elected leader", (self.store / "latest/hosts" / host / "etcd.log").read_text())
        self.assert_nothing_left()

    def test_a_member_that_is_cut_off_gives_stale_reads_where_they_are_allowed(self):
        self.assert_code(self.isolating("etcd-registers", "linearizable"), VALID)
        done = self.isolating("etcd-registers", "serializable")
        self.assert_code(done, INVALID)
        self.assertIn("cyclic-versions", self.found(done))
        self.assert_nothing_left()

    def test_lists_show_stale_reads_as_cycles_of_real_time(self):
        campaign = self.write("etcd-lists.yaml", LISTS)
        self.assert_code(self.isolating(campaign, "linearizable"), VALID)
        done = self.isolating(campaign, "serializable")
        self.assert_code(done, INVALID)
        self.assertTrue(any(name.endswith("-realtime") for name in self.found(done)), self.found(done))
        # Old, but never inconsistent: each read is of one revision.
        checked = self.ordeal("check", "--model", "serializable", self.store / "latest/history.ohist")
        self.assert_code(checked, VALID)

    def test_members_reach_each_other_through_the_fault_proxy(self):
        done = self.run_campaign("etcd-registers", "--json", "--duration", "4s", "--no-disruptions",
                                 "--set", "legs.client-db=proxy", "--set", "legs.peer=proxy")
        self.assert_code(done, VALID)
        done = self.run_campaign("etcd-registers", "--json", "--duration", "28s",
                                 "--schedule", self.write("steps.yaml", """
steps:
- at 2s for 2s: latency legs=peer direction=both latency=300
- at 8s for 2s: partition legs=peer direction=both
- at 14s for 2s: partition legs=client-db direction=both
"""))
        self.assert_code(done, VALID)
        rows = {(row["fault"], row["where"]) for row in done.json()["run"]["coverage"]}
        self.assertEqual(rows, {("latency", "peer"), ("partition", "peer"), ("partition", "client-db")})
        self.assert_nothing_left()

    def test_faults_of_a_clock_that_cannot_be_faked_are_refused_by_name(self):
        for fault in ("clock-skew", "clock-strobe", "clock-drift"):
            done = self.run_campaign("etcd-registers", "--set", f"faults.{fault}.hosts=one")
            self.assert_code(done, BAD_INPUT)
            self.assertIn(f"fault {fault} cannot be done to the server on n1", done.err)


if __name__ == "__main__":
    main()
