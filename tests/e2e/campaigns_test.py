"""The shipped campaigns find what is there: each runs on real hosts with a real PostgreSQL."""
from support import *

BELOW_G_SINGLE = {"G0", "G1a", "G1b", "G1c", "internal", "dirty-update", "duplicate-elements",
                  "incompatible-order", "lost-update", "G-single", "G-single-item"}


class Campaigns(EndToEnd):
    def verdict(self, done):
        run = self.store / "latest"
        for name in ("history.ohist", "verdict.json", "report.html", "ordeal.log", "campaign.yaml"):
            self.assertTrue((run / name).stat().st_size > 0, name)
        self.assertTrue(list((run / "hosts/n1").iterdir()), "database logs")
        verdict = json.loads((run / "verdict.json").read_text())
        self.assertEqual(verdict, done.json())
        self.assert_nothing_left()
        return verdict

    def everything_found(self, verdict):
        return set(verdict["anomaly_types"]) | set(verdict.get("anomaly_types_beyond", []))

    def test_serializable_is_valid(self):
        done = self.run_campaign("postgres-serializable", "--json")
        self.assert_code(done, VALID)
        verdict = self.verdict(done)
        self.assertIs(verdict["valid"], True)
        self.assertEqual(verdict["model"], "strict-serializable")
        self.assertEqual(self.everything_found(verdict), set())
        self.assertGreater(verdict["transactions"]["ok"], 500)
        self.assertEqual(set(verdict["run"]["faults"]), {"partition", "pause", "kill", "clock-skew"})

    def test_repeatable_read_shows_write_skew_and_nothing_below(self):
        done = self.run_campaign("postgres-repeatable-read", "--json", "--duration", "20s")
        self.assert_code(done, INVALID)
        found = self.everything_found(self.verdict(done))
        self.assertIn("G2-item", found)
        self.assertEqual(found & BELOW_G_SINGLE, set())
        # The same history keeps the promise that PostgreSQL makes at this level.
        history = self.store / "latest/history.ohist"
        self.assert_code(self.ordeal("check", "--model", "snapshot-isolation", history), VALID)

    def test_read_committed_shows_g_single_or_worse(self):
        done = self.run_campaign("postgres-read-committed", "--json", "--duration", "12s")
        self.assert_code(done, INVALID)
        self.assertTrue(self.everything_found(self.verdict(done)) & BELOW_G_SINGLE)

    def test_an_unsafe_client_breaks_the_total(self):
        done = self.run_campaign("bank-unsafe", "--json", "--duration", "10s")
        self.assert_code(done, INVALID)
        self.assertIn("wrong-total", self.everything_found(self.verdict(done)))

    def test_a_safe_client_keeps_the_total(self):
        done = self.run_campaign("bank-unsafe", "--json", "--duration", "10s",
                                 "--set", "workload.bank.client=safe",
                                 "--set", "workload.bank.isolation=serializable")
        self.assert_code(done, VALID)
        self.verdict(done)

    def test_check_and_report_agree_with_the_run(self):
        done = self.run_campaign("bank-unsafe", "--json", "--duration", "5s")
        self.assert_code(done, INVALID)
        checked = self.ordeal("check", self.store / "latest/history.ohist")
        self.assert_code(checked, INVALID)
        report = self.folder / "report.html"
        self.assert_code(self.ordeal("report", self.store / "latest", "-o", report), 0)
        self.assertEqual(report.read_text(), (self.store / "latest/report.html").read_text())


if __name__ == "__main__":
    main()
