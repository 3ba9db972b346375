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


class KilledGuests(EndToEnd):
    def test_heal_boots_a_guest_that_a_killed_run_left_without_power(self):
        steps = self.write("steps.yaml", "steps:\n- at 3s for 60s: power-cut n1\n")
        run = self.start("run", CAMPAIGNS / "power-cut.yaml", "--store", self.store, "--schedule", steps)
        log = self.store / "latest/faults.log"
        self.wait_for(lambda: log.exists() and "in effect" in log.read_text(), "a power cut", 180)
        run.kill()
        run.wait()
        power = json.loads((self.store / "latest/lab.json").read_text())["hosts"][0]["power"]
        self.assertEqual(self.state(power), "off")
        healed = self.ordeal("heal", self.store / "latest")
        self.assert_code(healed, VALID)
        self.assertIn("healed power-cut: no power for n1", healed.out)
        self.assertEqual(self.state(power), "on")
        self.assertIn("nothing to heal", self.ordeal("heal", self.store / "latest").out)
        self.assert_code(self.ordeal("lab", "down"), VALID)
        self.assert_nothing_left()

    def test_a_run_that_is_interrupted_while_its_guests_boot_leaves_nothing(self):
        run = self.start("run", CAMPAIGNS / "power-cut.yaml", "--store", self.store)
        self.wait_for(lambda: any("linux.uml" in line or "qemu-system" in line for _, line in lab_processes()),
                      "a guest", 60)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(60), SURROUNDINGS)
        self.assert_nothing_left()

    @staticmethod
    def state(power):
        return subprocess.run(["sh", power, "state"], capture_output=True, text=True, check=True).stdout.strip()


class BadImage(EndToEnd):
    def test_an_image_that_does_not_boot_is_told_with_the_end_of_the_console(self):
        image = pathlib.Path(self.ordeal("lab", "image").out.strip())
        copy = self.folder / "ordeal/images" / image.name
        copy.mkdir(parents=True)
        for name in ("recipe", "vmlinuz", "initrd.img"):
            (copy / name).symlink_to(image / name)
        with (copy / "root.img").open("wb") as root:
            root.truncate(64 << 20)
        done = self.ordeal("lab", "up", "--kind", "vm", "--hosts", 1, "--backend", "uml",
                           env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("host n1 of lab default (uml) did not boot", done.err)
        self.assertIn("Kernel panic - not syncing: VFS: Unable to mount root fs", done.err)
        self.assert_nothing_left()

    def test_where_there_is_no_image_the_message_says_how_to_build_it(self):
        done = self.ordeal("lab", "up", "--kind", "vm", env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("`ordeal lab image`", done.err)
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
