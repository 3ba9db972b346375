"""A lab of plain processes: no root, no SSH, the same campaign and store."""
import shutil

from support import *

CAMPAIGN = """
name: local
hosts: {lab: local, names: [n1]}
target: {postgres: {version: 15}}
workload: {list-append: {isolation: serializable}}
duration: 12s
workers: 5
faults:
  pause:
  kill:
  clock-skew:
  disk-slow: {max-delay: 100ms}
schedule: {interval: 1s, duration-min: 1s, duration-max: 2s, quiet-start: 1s, quiet-end: 1s}
check:
  list-append: {model: snapshot-isolation}
"""


class LocalLab(EndToEnd):
    def as_nobody(self):
        """Options for the program as an ordinary user, who may not see where it was built."""
        self.folder.chmod(0o777)
        self.program = shutil.copy(ORDEAL, self.folder / "ordeal")
        return dict(user="nobody", group="nogroup", extra_groups=[], cwd=self.folder,
                    env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})

    def test_an_ordinary_user_runs_it_under_faults(self):
        campaign = self.write("local.yaml", CAMPAIGN)
        done = self.run_campaign(campaign, "--json", **self.as_nobody())
        self.assert_code(done, VALID)
        self.assertEqual(set(done.json()["run"]["faults"]), {"pause", "kill", "clock-skew", "disk-slow"})
        self.assert_nothing_left()

    def test_a_fault_that_needs_root_is_refused_by_name_before_anything_starts(self):
        campaign = self.write("local.yaml", CAMPAIGN)
        done = self.run_campaign(campaign, "--set", "faults.partition.direction=both", **self.as_nobody())
        self.assert_code(done, BAD_INPUT)
        self.assertIn("partition", done.err)
        self.assertNotIn("starting postgres", done.err)

    def test_namespaces_need_root(self):
        campaign = self.write("netns.yaml", CAMPAIGN.replace("lab: local", "lab: netns"))
        done = self.run_campaign(campaign, **self.as_nobody())
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("root", done.err)
        self.assertIn("local", done.err)

    def test_a_stall_in_mid_run_names_who_waits_and_for_what(self):
        campaign = self.write("local.yaml", CAMPAIGN)
        done = self.run_campaign(campaign, "--duration", "8s", "--set", "stall-after=700ms",
                                 "--set", "target.postgres.operation-timeout=10s",
                                 "--set", "faults={pause: }", "--set", "schedule.duration-min=2s",
                                 "--set", "schedule.duration-max=3s")
        self.assert_code(done, VALID)
        for worker in range(5):
            self.assertRegex(done.err, rf"worker {worker} \(process \d+\) has waited [0-9.]+ s "
                                       r"for (its operation to complete|a connection)")
        self.assertIn("active meanwhile: pause on n1", done.err)

    def test_two_runs_at_once(self):
        campaign = self.write("local.yaml", CAMPAIGN)
        first = self.start("run", campaign, "--store", self.store, "--duration", "5s")
        second = self.run_campaign(campaign, "--duration", "5s", "--no-disruptions")
        self.assert_code(second, VALID)
        out, err = first.communicate(timeout=120)
        self.assertIn(first.returncode, (VALID, UNKNOWN), err)


if __name__ == "__main__":
    main()
