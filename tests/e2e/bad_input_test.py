"""Bad input and bad surroundings: one clear message, the right exit code, nothing recorded lost."""
import socket

from support import *

CAMPAIGN = """name: bad
hosts: {lab: local, names: [n1]}
target: {postgres: {version: 15}}
workload: {list-append: {isolation: serializable}}
duration: 5s
workers: 4
check:
  list-append: {model: snapshot-isolation}
"""


class BadInput(EndToEnd):
    def fails(self, code, *messages, campaign=CAMPAIGN, arguments=(), **options):
        done = self.run_campaign(self.write("bad.yaml", campaign), *arguments, **options)
        self.assert_code(done, code)
        for message in messages:
            self.assertIn(message, done.err)
        self.assert_nothing_left()
        return done

    def test_mistyped_key(self):
        self.fails(BAD_INPUT, "bad.yaml:6:1", 'did you mean "workers"?',
                   campaign=CAMPAIGN.replace("workers", "wokrers"))

    def test_bad_arguments(self):
        for arguments in (["run"], ["frobnicate"], ["check"], ["run", "x.yaml", "--seed", "abc"],
                          ["check", "/nonexistent.edn"], ["report", "/nonexistent"], ["heal", "/nonexistent"]):
            done = self.ordeal(*arguments)
            self.assert_code(done, BAD_INPUT)
            self.assertTrue(done.err.strip(), arguments)

    def test_mistyped_command(self):
        done = self.ordeal("chek", "h.edn")
        self.assert_code(done, BAD_INPUT)
        self.assertEqual(done.err, 'ordeal: unknown command "chek"; did you mean "check"?\n')

    def test_missing_postgres(self):
        self.fails(SURROUNDINGS, "/usr/lib/postgresql/99/bin", "postgresql-99", "n1",
                   campaign=CAMPAIGN.replace("version: 15", "version: 99"))

    def test_a_setting_that_postgres_refuses(self):
        for setting, message in (
                ("no_such_setting: 1", 'unrecognized configuration parameter "no_such_setting"'),
                ("work_mem: lots", 'invalid value for parameter "work_mem": "lots"'),
                ("max_connections: 2", "superuser_reserved_connections (3)")):
            self.fails(BAD_INPUT, "n1: ", message, f"target.postgres.settings.{setting.split(':')[0]}",
                       campaign=CAMPAIGN.replace("version: 15", f"settings: {{{setting}}}"))

    def test_a_host_and_a_version_that_cannot_be(self):
        for setting, message in (("host: n2", 'bad.yaml:3:21: target postgres: host is "n2"'),
                                 ('version: "../../x"', "bad.yaml:3:21: target postgres: version is ")):
            done = self.fails(BAD_INPUT, message, campaign=CAMPAIGN.replace("version: 15", setting))
            self.assertNotIn("bringing up", done.err)
        self.assertFalse(self.store.exists())

    def test_the_assignment_that_is_wrong_is_named(self):
        for assignment in ("workload.bank.x=1", "check.list-append.model=none", "hosts.names=[n1, n1]"):
            self.fails(BAD_INPUT, f"ordeal: --set {assignment}: ", arguments=["--set", assignment])

    def test_a_refused_run_is_not_the_latest(self):
        good = self.run_campaign(self.write("bad.yaml", CAMPAIGN), "--duration", "1s", "--no-disruptions")
        self.assert_code(good, VALID)
        latest = [(self.store / "latest").resolve(), (self.store / "bad/latest").resolve()]
        self.assertEqual(latest[0], latest[1])
        self.assertTrue((latest[0] / "history.ohist").exists())
        self.fails(BAD_INPUT, "partition", arguments=["--set", "faults.partition.direction=both"])
        self.fails(SURROUNDINGS, "postgresql-99", arguments=["--set", "target.postgres.version=99"])
        self.assertEqual(latest, [(self.store / "latest").resolve(), (self.store / "bad/latest").resolve()])
        self.assertGreater(len(list((self.store / "bad").iterdir())), 2)

    def test_disks_larger_than_memory_are_refused(self):
        done = self.run_campaign("quickstart", "--set", "hosts.disk=1000000")
        self.assert_code(done, BAD_INPUT)
        self.assertIn("of which this machine has", done.err)
        self.assert_nothing_left()

    def test_port_in_use(self):
        with socket.create_server(("0.0.0.0", 0)) as taken:
            port = taken.getsockname()[1]
            self.fails(SURROUNDINGS, str(port), "n1",
                       campaign=CAMPAIGN.replace("version: 15", f"port: {port}"))

    def test_unreachable_host(self):
        inventory = self.write("hosts.ini", "n1 ansible_host=127.0.0.1 ansible_port=1\n")
        self.fails(SURROUNDINGS, "n1", "connect",
                   campaign=CAMPAIGN.replace("lab: local, names: [n1]", f"inventory: {inventory}"))

    def test_refused_login_key(self):
        self.addCleanup(self.ordeal, "lab", "down", "--name", "e2e-refused")
        self.assert_code(self.ordeal("lab", "up", "--name", "e2e-refused", "--hosts", 1), 0)
        state = pathlib.Path("/run/ordeal/labs/e2e-refused")
        lab = json.loads((state / "lab.json").read_text())
        host = lab["hosts"][0]
        key = self.folder / "other_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        inventory = self.write("hosts.ini", f"n1 ansible_host={host['address']} "
                               f"ansible_ssh_private_key_file={key} ordeal_known_hosts={host['known_hosts']}\n")
        campaign = self.write("bad.yaml", CAMPAIGN.replace("lab: local, names: [n1]",
                                                           f"inventory: {inventory}"))
        done = self.ordeal("lab", "exec", "--name", "e2e-refused", "ctl", "--", ORDEAL, "run", campaign,
                           "--store", self.store)
        self.assert_code(done, SURROUNDINGS)
        for message in ("n1", "root", str(key)):
            self.assertIn(message, done.err)

    def test_disk_full_while_recording(self):
        small = self.folder / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=384k", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small])
        done = self.ordeal("run", self.write("full.yaml", CAMPAIGN), "--store", small, "--duration", "60s")
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("history.ohist", done.err)
        self.assertIn("No space left", done.err)
        checked = self.ordeal("check", "--json", "--model", "snapshot-isolation", small / "latest/history.ohist")
        self.assert_code(checked, VALID)
        self.assertGreater(checked.json()["transactions"]["ok"], 100)
        self.assert_nothing_left()

    def test_disk_full_while_reporting(self):
        small = self.folder / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small])
        done = self.ordeal("run", self.write("full.yaml", CAMPAIGN), "--store", small, "--duration", "1s",
                           "--set", "rate=20")
        self.assert_code(done, VALID)
        self.assertIn("cannot write the report", done.err)
        self.assertNotIn("report.html", done.out)
        left = {path.name for path in (small / "latest").resolve().iterdir()}
        self.assertFalse(left & {"report.html", "report.html.partial", "verdict.json.next"}, left)

    def test_a_run_in_which_nothing_commits_is_unknown(self):
        # Frozen from the start of chaos to its end.
        campaign = CAMPAIGN + "schedule: {steps: [at 0s for 5s: pause]}\n"
        done = self.fails(UNKNOWN, campaign=campaign)
        self.assertIn("vacuous", done.out + done.err)


class Histories(EndToEnd):
    def sample(self):
        run = self.run_campaign(self.write("ok.yaml", CAMPAIGN), "--duration", "3s", "--no-disruptions")
        self.assert_code(run, VALID)
        return self.store / "latest/history.ohist"

    def test_truncated_history_is_read_as_far_as_it_goes(self):
        whole = self.sample().read_bytes()
        torn = self.folder / "torn.ohist"
        torn.write_bytes(whole[:len(whole) - 7])
        done = self.ordeal("check", "--model", "snapshot-isolation", torn)
        self.assert_code(done, VALID)
        self.assertIn("torn.ohist", done.out + done.err)

    def test_a_history_damaged_in_the_middle_is_never_valid(self):
        whole = bytearray(self.sample().read_bytes())
        whole[len(whole) // 2] ^= 0x10
        damaged = self.folder / "damaged.ohist"
        damaged.write_bytes(whole)
        done = self.ordeal("check", damaged)
        self.assert_code(done, UNKNOWN)
        self.assertIn("damaged", done.out)
        # Nor does another format hide it.
        done = self.ordeal("convert", damaged, self.folder / "hidden.edn")
        self.assert_code(done, BAD_INPUT)
        self.assertIn("--repair", done.err)

    def test_a_pipe_is_a_file(self):
        edn = "{:type :ok, :process 0, :f :txn, :value [[:append 1 1]]}\n"
        done = subprocess.run(self.command("check", "--format", "edn", "/dev/stdin"), input=edn, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, VALID, done.stdout + done.stderr)

    def test_a_history_without_clients_is_unknown(self):
        history = self.write("nemesis.edn", "{:type :info, :process :nemesis, :f :kill, :value nil}\n")
        self.assert_code(self.ordeal("check", history), UNKNOWN)

    def test_a_certificate_of_an_earlier_verdict_does_not_stay(self):
        history = self.write("stale.edn", "{:type :ok, :process 0, :f :txn, :value [[:append 1 1]]}\n"
                                          "{:type :ok, :process 0, :f :txn, :value [[:r 1 [1]]]}\n")
        proof = self.folder / "proof.jsonl"
        self.assert_code(self.ordeal("check", "--certificate", proof, history), VALID)
        self.assertEqual(proof.read_text(), '{"op": 0}\n{"op": 1}\n')
        history.write_text(history.read_text().replace("[1]", "[1 1]"))
        self.assert_code(self.ordeal("check", "--certificate", proof, history), INVALID)
        self.assertFalse(proof.exists())

    def test_foreign_files(self):
        for name, content in (("empty.ohist", b""), ("noise.ohist", os.urandom(4096)),
                              ("picture.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 100), ("bad.edn", b"{:index 0,, :type"),
                              ("bad.json", b'[{"index": 0, "type": "nonsense"}]')):
            path = self.folder / name
            path.write_bytes(content)
            done = self.ordeal("check", path)
            self.assertIn(done.code, (BAD_INPUT, UNKNOWN), f"{name}: {done}")
            self.assertIn(name, done.out + done.err)

    def test_unknown_checker_model_and_option(self):
        history = self.sample()
        for arguments, message in ((["--checker", "bnak"], 'did you mean "bank"?'),
                                   (["--model", "serialisable"], 'did you mean "serializable"?'),
                                   (["--option", "colour=red"], "unknown setting"),
                                   (["--option", "colour"], "expected key=value")):
            done = self.ordeal("check", history, *arguments)
            self.assert_code(done, BAD_INPUT)
            self.assertIn(message, done.err)

    def test_a_model_for_a_checker_without_models(self):
        history = self.write("h.edn", "{:type :ok, :process 0, :f :add, :value 1}\n")
        done = self.ordeal("check", "--checker", "counter", "--model", "serializable", history)
        self.assert_code(done, BAD_INPUT)
        self.assertEqual(done.err, "ordeal: --model serializable: checker counter knows no consistency models; "
                                   "those that do are list-append, rw-register\n")

    def test_a_verdict_that_cannot_be_written_is_no_success(self):
        history = self.write("h.edn", "{:type :ok, :process 0, :f :txn, :value [[:append 1 1]]}\n")
        for arguments in (["check", history], ["check", "--json", history], ["list", "models"]):
            command = self.command(*arguments)
            self.assertEqual(subprocess.run(command, stdout=subprocess.DEVNULL).returncode, VALID)
            with open("/dev/full", "wb") as full:
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, INTERNAL, done.stderr)
            self.assertIn("ordeal: the result could not be written to standard output: No space left",
                          done.stderr)
            closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *map(str, command)],
                                    stderr=subprocess.PIPE, text=True)
            self.assertEqual(closed.returncode, INTERNAL, closed.stderr)

    def test_a_history_without_operations_is_unknown(self):
        empty = self.write("empty.edn", "")
        header = self.folder / "header.ohist"
        self.assert_code(self.ordeal("convert", empty, header), 0)
        for file in (empty, header):
            done = self.ordeal("check", file)
            self.assert_code(done, UNKNOWN)
            self.assertIn("nothing to judge", done.out)
        header.write_bytes(b"")
        self.assert_code(self.ordeal("check", header), BAD_INPUT)

    def test_conversions_keep_the_verdict(self):
        history = self.sample()
        verdict = self.ordeal("check", "--json", "--model", "snapshot-isolation", history).json()
        for extension in ("edn", "json", "jsonl"):
            converted = self.folder / f"converted.{extension}"
            self.assert_code(self.ordeal("convert", history, converted), 0)
            again = self.ordeal("check", "--json", "--model", "snapshot-isolation", converted)
            self.assert_code(again, VALID)
            self.assertEqual(again.json()["transactions"], verdict["transactions"])


if __name__ == "__main__":
    main()
