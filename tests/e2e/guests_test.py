"""Campaigns on guests with kernels of their own: minutes each, for scripts/nightly.

Needs the guests' image (`ordeal lab image`).
"""
from support import *


class Guests(EndToEnd):
    def test_three_guests_keep_their_promise_under_skew_netem_power_cuts_and_panics(self):
        done = self.run_campaign("three-guests", "--json", timeout=900)
        self.assert_code(done, VALID)
        verdict = done.json()
        self.assertGreater(verdict["transactions"]["ok"], 500)
        struck = {row["fault"] for row in verdict["run"]["coverage"]}
        self.assertEqual(struck, {"power-cut", "kernel-panic", "host-clock-skew", "packet-delay",
                                  "packet-reorder", "partition-hosts"})
        self.assert_nothing_left()


class PowerCut(EndToEnd):
    def test_with_fsync_no_commit_is_lost(self):
        done = self.run_campaign("power-cut", "--json", "--seed", 1, timeout=900)
        self.assert_code(done, VALID)
        self.assertGreater(done.json()["transactions"]["ok"], 200)
        self.assert_nothing_left()

    def test_without_fsync_lost_commits_are_found(self):
        done = self.run_campaign("power-cut", "--json", "--seed", 1, "--set",
                                 "target.postgres.settings.fsync=off", timeout=900)
        self.assert_code(done, INVALID)
        self.assertTrue(done.json()["anomalies"])
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
