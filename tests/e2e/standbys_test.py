"""Systems with roles and legs: a primary and its standbys, and one that follows it, struck together and apart."""
from support import *


class Standbys(EndToEnd):
    def test_both_legs_and_all_three_hosts_are_struck_and_the_primary_keeps_its_promise(self):
        done = self.run_campaign("postgres-replicated", "--json", "--duration", "20s")
        self.assert_code(done, VALID)
        verdict = done.json()
        self.assertGreater(verdict["transactions"]["ok"], 500)
        coverage = verdict["run"]["coverage"]
        self.assertEqual({row["where"] for row in coverage if row["fault"] == "partition"},
                         {"client-db", "replication"})
        self.assertEqual({row["fault"] for row in coverage}, {"partition", "partition-hosts", "kill", "pause"})
        for host in ("n1", "n2", "n3"):
            log = (self.store / "latest/hosts" / host / "postgres.log").read_text()
            self.assertIn("database system is ready to accept", log)
            self.assertEqual("started streaming WAL from primary" in log, host != "n1")
        self.assert_nothing_left()

    def test_faults_reach_replication_and_the_role_that_are_named(self):
        done = self.run_campaign("postgres-replicated", "--json", "--duration", "12s",
                                 "--set", "faults.kill.role=standby", "--set", "faults.kill.hosts=all",
                                 "--schedule", self.write("steps.yaml", """
steps:
- at 1s for 1s: partition legs=replication direction=upstream
- at 4s for 1s: kill
"""))
        self.assert_code(done, VALID)
        log = (self.store / "latest/faults.log").read_text()
        self.assertIn("packets of replication are dropped on the way to the server", log)
        self.assertIn("SIGKILL to the database on n2, n3", log)
        self.assert_nothing_left()

    def test_faults_strike_one_of_two_systems_and_reads_of_the_other_are_old_but_whole(self):
        done = self.run_campaign("postgres-subscriber", "--json", "--duration", "18s")
        self.assert_code(done, VALID)
        verdict = done.json()
        self.assertGreater(verdict["transactions"]["ok"], 500)
        # A process does not see its own writes, which go to the other system.
        self.assertIn("read-your-writes", verdict["all_violated"])
        self.assertIn("db: postgres (PostgreSQL) 15", verdict["run"]["versions"]["target"])
        log = (self.store / "latest/faults.log").read_text()
        self.assertIn("SIGKILL to the database on n3", log)
        self.assertNotRegex(log, "SIGKILL to the database on n[12]")
        self.assertIn("replica.subscription", {row["where"] for row in verdict["run"]["coverage"]})
        self.assert_nothing_left()

    def test_standbys_on_hosts_that_are_not_there_are_refused_with_their_place(self):
        for standbys, words in (("n2, n9", 'unknown host "n9"'), ("n1", "is the primary's")):
            done = self.run_campaign("postgres-replicated", "--set", f"target.postgres.standbys={standbys}")
            self.assert_code(done, BAD_INPUT)
            self.assertIn(words, done.err)
            self.assertIn("--set", done.err)


if __name__ == "__main__":
    main()
