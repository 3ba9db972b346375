"""Legs that lead through the run's fault proxy, and its toxics on a real PostgreSQL."""
from support import *

CAMPAIGN = """
name: toxics
hosts: {lab: LAB, names: [n1]}
target: {postgres: {version: 15, operation-timeout: 2s}}
workload: {list-append: {isolation: serializable}}
duration: 24s
workers: 5
faults:
  leg-refuse:
  leg-reset:
  latency:
  timeout:
  limit-data:
  bandwidth:
  slicer:
  slow-close:
  reset-peer:
  half-open:
schedule: {interval: 500ms, duration-min: 500ms, duration-max: 1s, quiet-start: 1s, quiet-end: 1s, recovery: 500ms}
check:
  list-append: {model: snapshot-isolation}
"""


class Toxics(EndToEnd):
    def run_campaign(self, lab, *arguments):
        campaign = self.write("toxics.yaml", CAMPAIGN.replace("LAB", lab))
        return self.ordeal("run", campaign, "--store", self.store, "--json", *arguments)

    def test_every_toxic_meets_the_clients_and_is_gone_after_it(self):
        done = self.run_campaign("netns", "--complexity", "low")
        self.assert_code(done, VALID)
        run = done.json()["run"]
        self.assertEqual(len({row["fault"] for row in run["coverage"]}), 10)
        for row in run["coverage"]:
            self.assertEqual(row["where"], "client-db")
            if row["times"]:
                self.assertRegex(row["effect"], "no connection is left|delayed|swallowed|ended|held back")
        self.assertIn("is healed", (self.store / "latest/faults.log").read_text())

    def test_what_is_said_of_legs_is_followed_or_refused(self):
        direct = self.run_campaign("local", "--set", "legs.client-db=direct")
        self.assert_code(direct, BAD_INPUT)
        self.assertIn("finds nothing to strike", direct.err)
        for setting, words in (("faults.latency.toxicity=0", "expected a number from 0.001 to 1"),
                               ("legs.client-db=tunnel", "expected proxy or direct"),
                               ("legs.backup=proxy", 'leg "backup"')):
            done = self.run_campaign("local", "--set", setting)
            self.assert_code(done, BAD_INPUT)
            self.assertIn(words, done.err)
        always = self.run_campaign("local", "--set", "legs.client-db=proxy", "--no-disruptions", "--duration", "2s")
        self.assert_code(always, VALID)


if __name__ == "__main__":
    main()
