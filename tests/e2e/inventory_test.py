"""Hosts of an Ansible inventory, over real sshds: what is known of them, groups as roles, provisioning by
playbooks, a jump host, and that nothing of it leaks or stays."""
import re

from support import *

SECRET = "correct horse \"battery\" staple"

CAMPAIGN = """
name: fleet
hosts: {inventory: %s%s}
target: {postgres: {%s}}
workload: {bank: {isolation: serializable}}
workers: 2
duration: 2s
"""


class Fleet(EndToEnd):
    """Three hosts of a lab, which is up for all tests of a class; `ordeal` runs within its network."""

    def setUp(self):
        super().setUp()
        # Tests that run beside it, in namespaces of their own, have the same process ids and the same /tmp.
        self.lab = "e2e-" + self.folder.name.rpartition("-")[2].replace("_", "x")
        self.addCleanup(self.ordeal, "lab", "down", "--name", self.lab)
        up = self.ordeal("lab", "up", "--name", self.lab, "--hosts", 3)
        self.assert_code(up, 0)
        lab = json.loads(pathlib.Path(f"/run/ordeal/labs/{self.lab}/lab.json").read_text())
        self.hosts = {host["name"]: host for host in lab["hosts"]}

    def within(self, *arguments, **options):
        """Its temporary files are within the test's folder, where what is left of them can be seen."""
        return self.ordeal("lab", "exec", "--name", self.lab, "ctl", "--", ORDEAL, *arguments,
                           env={**os.environ, "TMPDIR": str(self.folder)}, **options)

    def on(self, host, script):
        return self.ordeal("lab", "exec", "--name", self.lab, host, "--", "sh", "-c", script)

    def inventory(self, groups, variables=""):
        """{group: [host line, ...]} as a file."""
        sample = self.hosts["n1"]
        lines = []
        for group, members in groups.items():
            lines.append(f"[{group}]")
            for member in members:
                name = member.split()[0]
                lines.append(f"{member} ansible_host={self.hosts[name]['address']}")
        lines += ["[all:vars]", f"ansible_ssh_private_key_file={sample['identity']}",
                  f"ordeal_known_hosts={sample['known_hosts']}", variables]
        return self.write("hosts.ini", "\n".join(lines) + "\n")

    def run_on(self, inventory, hosts="", target="", *arguments, **options):
        campaign = self.write("fleet.yaml", CAMPAIGN % (inventory, hosts, target))
        return self.within("run", campaign, "--store", self.store, *arguments, **options)

    def playbook(self, tasks):
        return self.write("own.yml", f"- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}")

    def runs(self):
        return sorted(self.store.glob("fleet/2*/provision.log"))

    def assert_no_ansible_left(self):
        self.assertEqual(list(self.folder.glob("ordeal-provision-*")), [])
        for host in self.hosts:
            for search in (["sh", "-c", "ls -d ~/.ordeal-provision-* ~/.ansible/tmp/* 2> /dev/null"],
                           ["pgrep", "-fa", "ansible|sleep 617"]):
                found = self.ordeal("lab", "exec", "--name", self.lab, host, "--", *search)
                self.assertEqual(found.out, "", host)


class Inventory(Fleet):
    def test_groups_are_roles_and_the_rest_is_told(self):
        inventory = self.inventory({"primary": ["n2"], "copies": ["n1"], "spare": ["n3"]})
        done = self.run_on(inventory, "", "host: primary, standbys: [copies]")
        self.assert_code(done, VALID)
        run = (self.store / "latest").resolve()
        self.assertEqual({path.name for path in (run / "hosts").iterdir()}, {"n1", "n2"})
        self.assertIn("group spare of", done.err)
        self.assertNotIn("group primary", done.err)
        for target, words in {"host: none": "unknown host \"none\"", "host: nothing": "group \"nothing\" of "
                              "the inventory has no hosts", "host: all3": "group \"all3\" has 3 hosts"}.items():
            inventory = self.inventory({"all3": ["n1", "n2", "n3"], "nothing": []})
            done = self.run_on(inventory, "", target)
            self.assert_code(done, BAD_INPUT)
            self.assertIn(words, done.err)

    def test_a_run_through_a_jump_host(self):
        jump = self.hosts["n3"]
        inventory = self.inventory({"db": ["n1"]}, "ansible_ssh_common_args='-o ProxyJump=root@"
                                   f"{jump['address']}'")
        blocked = "iptables -I INPUT -p tcp --dport 22 -s %s -j REJECT" % "10.77.0.1"
        self.assert_code(self.on("n1", blocked), 0)
        done = self.run_on(inventory, ", provision: true", "host: db")
        self.assert_code(done, VALID)
        self.assertIn("-W", json.loads((self.store / "latest/lab.json").read_text())["hosts"][0]["proxy_command"])
        # A jump host with another key than the known one is not passed.
        known = self.folder / "known"
        lines = pathlib.Path(jump["known_hosts"]).read_text().splitlines()
        n1 = next(line for line in lines if line.startswith("n1,"))
        known.write_text("\n".join([n1, f"n3,{jump['address']} {n1.split(' ', 1)[1]}"]) + "\n")
        text = inventory.read_text().replace(jump["known_hosts"], str(known))
        done = self.run_on(self.write("other.ini", text), "", "host: db")
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("through a jump host", done.err)
        self.assertIn("Host key verification failed", done.err)

    def test_hosts_check(self):
        inventory = self.inventory({"db": ["n1", "n2"], "down": ["n3 ansible_port=1"]})
        done = self.within("hosts", "check", "--inventory", inventory)
        self.assert_code(done, SURROUNDINGS)
        self.assertRegex(done.out, r"(?m)^n1 +Debian.*Linux.*root.*(nft|legacy).*iB.*±")
        self.assertRegex(done.out, r"(?m)^n3: not reachable: host n3 .*connecting failed")
        self.assertRegex(done.out, r"faults on n1, n2\n +root: yes, .*own clock: no, .*\n +can do: +.*partition")
        self.assertRegex(done.out, r"can't do: .*; it takes a clock of the host's own")
        told = self.within("hosts", "check", "--inventory", inventory, "--json").json()["hosts"]
        n1 = next(host for host in told if host["name"] == "n1")
        self.assertTrue(n1["reachable"])
        self.assertLess(abs(n1["clock_offset_seconds"]), n1["clock_uncertainty_seconds"] + 0.01)
        self.assertGreater(n1["free_bytes"], 0)
        self.assertEqual({name for name in n1["abilities"]} & {"root", "own_clock", "netem", "tbf"},
                         {"root", "own_clock", "netem", "tbf"})
        self.assertIn("kill", n1["faults"]["possible"])
        self.assertEqual([host["reachable"] for host in told], [True, True, False])
        self.assert_code(self.ordeal("hosts", "check", "--lab", self.lab), 0)
        self.assert_code(self.ordeal("hosts", "check"), BAD_INPUT)


class Provisioning(Fleet):
    def test_a_second_run_of_the_playbook_changes_nothing(self):
        inventory = self.inventory({"db": ["n1"], "rest": ["n2", "n3"]})
        for changes in (r"[1-9]\d*", "0"):
            done = self.run_on(inventory, ", provision: true", "host: db")
            self.assert_code(done, VALID)
            self.assertRegex(done.err, rf"provisioned 3 hosts in [\d.]+ s: {changes} changes")
        self.assertEqual(len(self.runs()), 2)
        log = self.runs()[0].read_text()
        self.assertIn("TASK [base : ", log)
        self.assertRegex(log, r"(?m)^n3 .*failed=0")
        self.assertIn("MaxSessions 100", self.on("n2", "cat /etc/ssh/sshd_config.d/ordeal.conf").out)
        self.assertIn("ordeal", self.on("n3", "id -un ordeal").out)
        self.assert_no_ansible_left()

    def test_a_task_that_fails_is_named_with_its_host_and_no_secret_is_written(self):
        inventory = self.inventory({"db": ["n1", "n2"]}, f"ansible_become_password='{SECRET}'\n"
                                   f"api_token='{SECRET}2'")
        playbook = self.playbook(
            "    - name: Good\n      command: echo {{ ansible_become_password }}\n"
            "    - name: Bad\n      shell: echo \"$T\" >&2; exit 7\n"
            "      environment: {T: '{{ api_token }}'}\n"
            "      when: inventory_hostname == 'n2'\n")
        done = self.run_on(inventory, f", provision: true, playbook: {playbook}", "host: n1")
        self.assert_code(done, SURROUNDINGS)
        self.assertIn('host n2: task "Bad" failed: non-zero return code', done.err)
        self.assertIn("provision.log ends: ", done.err)
        self.assertNotIn("host n1: task", done.err)
        self.assertIn("TASK [Bad]", self.runs()[0].read_text())
        self.assert_no_ansible_left()
        self.assert_no_secret(done)

    def test_no_secret_in_a_whole_run(self):
        inventory = self.inventory({"db": ["n1"]}, f"ansible_become_password='{SECRET}'")
        playbook = self.playbook("    - debug: {var: ansible_become_password}\n")
        done = self.run_on(inventory, f", provision: true, playbook: {playbook}", "host: db")
        self.assert_code(done, VALID)
        self.assertIn("********", self.runs()[0].read_text())
        self.assert_no_secret(done)

    def assert_no_secret(self, *done):
        words = re.compile(rb"battery|correct horse")
        for each in done:
            self.assertIsNone(words.search((each.out + each.err).encode()), each)
        files = [path for path in self.store.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 3)
        for path in files:
            self.assertIsNone(words.search(path.read_bytes()), path)
        history = self.ordeal("convert", next(self.store.rglob("history.ohist")), self.folder / "h.json") \
            if list(self.store.rglob("history.ohist")) else None
        if history:
            self.assertIsNone(words.search((self.folder / "h.json").read_bytes()))

    def test_a_task_that_hangs(self):
        playbook = self.playbook("    - name: Endless\n      command: sleep 617\n")
        done = self.run_on(self.inventory({"db": ["n1", "n2"]}),
                           f", provision: true, playbook: {playbook}, task-timeout: 6s", "host: n1")
        self.assert_code(done, SURROUNDINGS)
        self.assertIn('task "Endless" did not end within 6 s', done.err)
        self.assert_no_ansible_left()

    def test_a_stop_on_request(self):
        playbook = self.playbook("    - name: Endless\n      command: sleep 617\n")
        campaign = self.write("fleet.yaml", CAMPAIGN % (
            self.inventory({"db": ["n1", "n2"]}), f", provision: true, playbook: {playbook}", "host: n1"))
        process = self.start("lab", "exec", "--name", self.lab, "ctl", "--", "env", f"TMPDIR={self.folder}",
                             ORDEAL, "run", campaign, "--store", self.store, start_new_session=True)
        self.wait_for(lambda: self.on("n2", "pgrep -x sleep").out.count("\n") > 1, "the task", 30)
        os.killpg(process.pid, signal.SIGINT)
        self.assertIn("stopped on request", process.communicate(timeout=30)[1])
        self.assert_no_ansible_left()

    def test_a_host_that_goes_down_on_the_way(self):
        playbook = self.playbook(
            "    - name: Going\n      shell: iptables -I INPUT -p tcp --dport 22 -j REJECT --reject-with tcp-reset\n"
            "      when: inventory_hostname == 'n2'\n"
            "    - name: Gone\n      command: 'true'\n")
        done = self.run_on(self.inventory({"db": ["n1", "n2", "n3"]}),
                           f", provision: true, playbook: {playbook}", "host: n1")
        self.assert_code(done, SURROUNDINGS)
        self.assertRegex(done.err, r'host n2: task "(Going|Gone)" failed')
        self.assertEqual(list(self.folder.glob("ordeal-provision-*")), [])
        self.assertEqual(self.on("n3", "ls -d /root/.ordeal-provision-* 2> /dev/null").out, "")

    def test_another_host_key_is_refused(self):
        inventory = self.inventory({"db": ["n1"]}, "ansible_host_key_checking=false\n"
                                   "ansible_ssh_common_args='-o StrictHostKeyChecking=no'")
        known = self.folder / "known"
        lines = pathlib.Path(self.hosts["n1"]["known_hosts"]).read_text().splitlines()
        known.write_text("n1 " + next(line for line in lines if line.startswith("n2,")).split(" ", 1)[1] + "\n")
        inventory.write_text(inventory.read_text().replace(self.hosts["n1"]["known_hosts"], str(known)))
        done = self.run_on(inventory, ", provision: true", "host: db")
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("host key has changed", done.err)

    def test_a_sudo_that_would_ask(self):
        self.assert_code(self.on("n1", "useradd -m tester && mkdir -p ~tester/.ssh && usermod -p '*' tester && "
                                 "cp ~/.ssh/authorized_keys ~tester/.ssh/ && chown -R tester: ~tester/.ssh"), 0)
        inventory = self.inventory({"db": ["n1 ansible_user=tester"]})
        done = self.run_on(inventory, ", provision: true", "host: db")
        self.assert_code(done, SURROUNDINGS)
        self.assertIn("provisioning needs root, and sudo of user tester", done.err)
        self.assertEqual(self.runs(), [])


if __name__ == "__main__":
    main()
