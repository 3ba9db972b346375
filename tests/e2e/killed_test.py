"""A run that is killed or interrupted loses nothing that was recorded, and can be cleaned up after."""
from support import *

CAMPAIGN = """
name: killed
hosts: {lab: netns, names: [n1]}
target: {postgres: {version: 15}}
workload: {list-append: {isolation: serializable}}
duration: 60s
workers: 5
faults:
  FAULT:
schedule: {interval: 1s, duration-min: 30s, duration-max: 40s, quiet-start: 2s, quiet-end: 1s}
check:
  list-append: {model: snapshot-isolation}
"""


class Killed(EndToEnd):
    def run_until_fault(self, fault):
        campaign = self.write("killed.yaml", CAMPAIGN.replace("FAULT", fault))
        process = self.start("run", campaign, "--store", self.store)
        journal = self.store / "latest/heal.jsonl"
        self.wait_for(lambda: journal.exists() and "begin" in journal.read_text(), "the fault")
        time.sleep(1)
        self.assertIsNone(process.poll())
        return process

    def freeze_server(self):
        host = json.loads((self.store / "latest/lab.json").read_text())["hosts"][0]
        data = f"{host['directory']}/postgres/data"
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "cwd") == data:
                    os.kill(int(process.name), signal.SIGSTOP)
            except OSError:  # it ended meanwhile
                pass

    def test_sigkill_then_check_heal_and_lab_down(self):
        process = self.run_until_fault("pause")
        process.send_signal(signal.SIGKILL)
        process.wait()
        run = self.store / "latest"
        checked = self.ordeal("check", "--json", "--model", "snapshot-isolation", run / "history.ohist")
        self.assert_code(checked, VALID)
        self.assertGreater(checked.json()["transactions"]["ok"], 50)
        journal = run / "heal.jsonl"
        journal.write_text("damage\n" + journal.read_text())
        healed = self.ordeal("heal", run)
        self.assert_code(healed, BAD_INPUT)  # for it heals, and cannot know all
        self.assertIn("healed pause", healed.out)
        self.assertIn("heal.jsonl: line 1: expected entries of the heal journal, found `damage`", healed.err)
        self.assertIn("may be left on any host (n1)", healed.err)
        journal.write_text(journal.read_text().removeprefix("damage\n"))
        again = self.ordeal("heal", run)
        self.assertEqual((again.code, again.out), (0, "nothing to heal: all faults of the run are healed (1)\n"))
        journal.unlink()
        lost = self.ordeal("heal", run)
        self.assert_code(lost, BAD_INPUT)
        self.assertIn("heal.jsonl is gone, so that nobody knows which faults the run left", lost.err)
        self.assert_code(self.ordeal("lab", "down"), 0)
        self.assert_nothing_left()

    def test_heal_refuses_a_run_that_is_going(self):
        process = self.run_until_fault("pause")
        refused = self.ordeal("heal", self.store / "latest")
        self.assert_code(refused, BAD_INPUT)
        self.assertIn(f"process {process.pid} is still writing it", refused.err)
        self.assertIn(f"kill -INT {process.pid}", refused.err)
        self.assertNotIn('"event":"healed"', (self.store / "latest/heal.jsonl").read_text())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, (VALID, UNKNOWN), err)
        after = self.ordeal("heal", self.store / "latest")
        self.assertEqual(after.code, 0)
        self.assertTrue(after.out.startswith("nothing to heal: all faults"), after.out)
        self.assert_nothing_left()

    def test_sigkill_then_heal_of_the_host_alone(self):
        process = self.run_until_fault("partition")
        process.send_signal(signal.SIGKILL)
        process.wait()
        lab = json.loads((self.store / "latest/lab.json").read_text())["name"]
        self.addCleanup(self.ordeal, "lab", "down", "--name", lab)
        rules = lambda: self.ordeal("lab", "exec", "--name", lab, "n1", "--", "iptables", "-S").out
        self.assertIn("ORDEAL", rules())
        healed = self.ordeal("heal", "--lab", lab, "--host", "n1")
        self.assert_code(healed, 0)
        self.assertIn("undone: ", healed.out)
        self.assertNotIn("ORDEAL", rules())
        again = self.ordeal("heal", "--lab", lab, "--host", "n1")
        self.assertEqual((again.code, again.out), (0, "nothing to heal\n"))
        unknown = ("exec </dev/null >/dev/null 2>&1; sleep 60 & setsid bash -c 'exec -a ordeal-slow:unknown-n1 strace -qqq -o /dev/null -p '$! "
                   "&")
        self.assert_code(self.ordeal("lab", "exec", "--name", lab, "n1", "--", "sh", "-c", unknown), 0)
        time.sleep(1)
        traced = self.ordeal("heal", "--lab", lab, "--host", "n1")
        self.assertEqual((traced.code, traced.out), (0, "ended: what slowed a disk, ordeal-slow:unknown-n1\n"))
        for arguments in ([], ["--host", "n9", "--lab", lab], [self.store / "latest", "--host", "n1"]):
            self.assert_code(self.ordeal("heal", *arguments), BAD_INPUT)

    def test_heal_names_what_remains_on_a_host_that_cannot_be_reached(self):
        process = self.run_until_fault("pause")
        process.send_signal(signal.SIGKILL)
        process.wait()
        lab = json.loads((self.store / "latest/lab.json").read_text())["name"]
        self.addCleanup(self.ordeal, "lab", "down", "--name", lab)
        on_host = lambda *command: self.ordeal("lab", "exec", "--name", lab, "n1", "--", *command)
        self.assert_code(on_host("sh", "-c", "kill $(cat /run/sshd/pid)"), 0)
        refused = self.ordeal("heal", self.store / "latest")
        self.assert_code(refused, SURROUNDINGS)
        self.assertIn("host n1 cannot be reached", refused.err)
        self.assertIn("what remains there: pause (SIGSTOP to the database on n1)", refused.err)
        self.assertRegex(refused.err, r"its watchdogs undo them by \S+ \S+ UTC, in \d+ s, if it runs; heal again")
        self.assert_code(on_host("/usr/sbin/sshd", "-f", "/etc/ssh/ordeal_sshd_config"), 0)
        healed = self.ordeal("heal", self.store / "latest")
        self.assert_code(healed, 0)
        self.assertIn("healed pause", healed.out)

    def test_ctrl_c_once_heals_finishes_and_judges(self):
        process = self.run_until_fault("partition")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, (VALID, UNKNOWN), err)
        journal = (self.store / "latest/heal.jsonl").read_text()
        self.assertEqual(journal.count('"event":"begin"'), journal.count('"event":"healed"'))
        self.assertTrue((self.store / "latest/report.html").exists())
        self.assertRegex(out, "^(VALID|UNKNOWN)")
        self.assert_nothing_left()

    def test_ctrl_c_cuts_the_wait_for_a_server_that_does_not_come_back(self):
        campaign = CAMPAIGN.replace("lab: netns", "lab: local").replace("{version: 15}", "{operation-timeout: 1s}")
        campaign = campaign.replace("FAULT", "pause")
        campaign = self.write("killed.yaml", campaign.replace("duration: 60s", "duration: 4s"))
        process = self.start("run", campaign, "--store", self.store, "--no-disruptions")
        history = self.store / "latest/history.ohist"
        self.wait_for(lambda: history.exists() and history.stat().st_size > 20_000, "operations")
        self.addCleanup(self.ordeal, "lab", "down")
        self.freeze_server()  # which no healing undoes
        log = self.store / "latest/ordeal.log"
        self.wait_for(lambda: "healing what is still broken" in log.read_text(), "healing")
        time.sleep(2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertIn(process.returncode, (VALID, UNKNOWN), err)
        self.assertRegex(out, "^(VALID|UNKNOWN)")
        self.assertNotIn("not ready", err)
        checked = self.ordeal("check", "--json", "--model", "snapshot-isolation", history)
        self.assert_code(checked, VALID)
        self.assertEqual(checked.json().get("warnings", []), [])  # the history was finished
        self.assert_nothing_left()

    def test_ctrl_c_twice_stops_now_and_says_how_to_heal(self):
        process = self.run_until_fault("pause")
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)  # two signals that are pending at once are one
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, SURROUNDINGS, err)
        self.assertIn("ordeal heal", err)
        self.assert_code(self.ordeal("check", "--model", "snapshot-isolation",
                                     self.store / "latest/history.ohist"), VALID)
        self.assert_code(self.ordeal("lab", "down"), 0)
        self.assert_nothing_left()
        healed = self.ordeal("heal", self.store / "latest")  # too late, which is no failure
        self.assert_code(healed, 0)
        self.assertIn("is gone", healed.out)

    def test_a_closed_terminal_is_an_orderly_stop(self):
        process = self.run_until_fault("partition")
        process.stdout.close()
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: process.poll() is not None, "the end of the run")
        self.assertIn(process.returncode, (VALID, UNKNOWN))
        self.assertTrue((self.store / "latest/verdict.json").exists())
        self.assert_nothing_left()

    def test_lab_down_leaves_living_runs_alone(self):
        process = self.run_until_fault("pause")
        self.assert_code(self.ordeal("lab", "down"), 0)
        self.assertNotEqual(namespaces(), self.before[0])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (VALID, UNKNOWN))
        self.assert_nothing_left()


class Lab(EndToEnd):
    def test_up_exec_down_and_two_at_once(self):
        for name in ("e2e-one", "e2e-two"):
            self.addCleanup(self.ordeal, "lab", "down", "--name", name)
            done = self.ordeal("lab", "up", "--name", name, "--hosts", 2)
            self.assert_code(done, 0)
            self.assertEqual(len(done.out.splitlines()), 2)
            self.assert_code(self.ordeal("lab", "exec", "--name", name, "n2", "--", "true"), 0)
            self.assert_code(self.ordeal("lab", "exec", "--name", name, "n2", "--", "false"), 1)
        names = self.ordeal("lab", "exec", "--name", "e2e-one", "n1", "--", "hostname")
        self.assertEqual(names.out.strip(), "n1")
        for name in ("e2e-one", "e2e-two"):
            self.assert_code(self.ordeal("lab", "down", "--name", name), 0)
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
