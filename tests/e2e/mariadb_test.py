"""MariaDB keeps what each of its kinds promises, and no more: a primary with replicas, a Galera cluster, InnoDB."""
from support import *


class MariaDbTest(EndToEnd):
    def log_of(self, host):
        # Galera's own lines may hold any bytes.
        return (self.store / "latest/hosts" / host / "mariadb.log").read_text(errors="replace")

    def faults_of(self, done):
        return {row["fault"] for row in done.json()["run"]["coverage"]}


class MariaDb(MariaDbTest):
    def test_a_primary_keeps_its_promise_whatever_becomes_of_its_replicas(self):
        done = self.run_campaign("mariadb-replicated", "--json", "--duration", "15s")
        self.assert_code(done, VALID)
        self.assertGreater(done.json()["transactions"]["ok"], 500)
        self.assertEqual(self.faults_of(done), {"partition", "partition-hosts", "kill", "pause"})
        for host in ("n1", "n2", "n3"):
            log = self.log_of(host)
            self.assertIn("ready for connections", log)
            self.assertEqual("Slave I/O thread: connected to master" in log, host != "n1")
        self.assert_nothing_left()

    def test_repeatable_read_loses_updates_unless_innodb_is_told_not_to(self):
        done = self.run_campaign("mariadb-repeatable-read", "--json", "--duration", "8s")
        self.assert_code(done, INVALID)
        self.assertIn("G-single-item", done.json()["anomaly_types"])
        kept = self.run_campaign("mariadb-repeatable-read", "--json", "--duration", "8s",
                                 "--set", "target.mariadb.settings.innodb_snapshot_isolation=ON")
        self.assert_code(kept, VALID)
        self.assert_nothing_left()


class Galera(MariaDbTest):
    def test_a_galera_cluster_comes_back_from_a_kill_of_all(self):
        done = self.run_campaign("mariadb-galera", "--json", "--duration", "24s", "--set", "faults.kill.hosts=all",
                                 "--schedule", self.write("steps.yaml", """
steps:
- at 3s for 1s: kill
- at 14s for 2s: partition-hosts
"""))
        self.assert_code(done, VALID)
        self.assertGreater(done.json()["transactions"]["ok"], 500)
        self.assertEqual(self.faults_of(done), {"partition-hosts", "kill"})
        logs = [self.log_of(host) for host in ("n1", "n2", "n3")]
        # Once at the start, and once after the kill.
        self.assertEqual(sum(log.count("makes the cluster anew") for log in logs), 2)
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
