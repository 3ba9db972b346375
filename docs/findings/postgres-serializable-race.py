#!/usr/bin/env python3
"""Makes PostgreSQL commit three SERIALIZABLE transactions that fit no serial order.

See postgres-serializable-race.md. A debugger holds one backend at a place where the scheduler may
stop it any time. Needs PostgreSQL's programs (argument: their directory), gdb and, since servers do not run as root,
setpriv. Makes a cluster of its own in a temporary directory, and removes it. Exits with 0 if the anomaly was shown.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/lib/postgresql/15/bin")
USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
SETUP = "CREATE TABLE t (id int PRIMARY KEY, value text); INSERT INTO t VALUES (1, 'x'), (2, 'y');"


class Child:
    """A program that reads commands from its standard input."""

    def __init__(self, command, echo):
        self.echo = echo
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self):
        """What was printed since the last wait."""
        self.send(self.echo)
        printed = []
        for line in self.process.stdout:
            if "END-OF-STEP" in line:
                return " ".join(printed)
            printed.append(line.strip())
        raise RuntimeError(f"{self.process.args[0]} ended: {printed}")

    def do(self, line):
        self.send(line)
        return self.wait()


class Session(Child):
    def __init__(self, name, sockets):
        super().__init__([PROGRAMS / "psql", "-XqAt", "-h", sockets, "-U", "postgres"], r"\echo END-OF-STEP")
        self.name = name
        self.pid = self.do("SELECT pg_backend_pid();")

    def say(self, sql):
        answer = self.do(sql)
        print(f"{self.name}: {sql:54} {answer}")
        return answer


def hold_after_visible(pid):
    """Stops the backend once its transaction is visible to others and before it says so to the SSI code."""
    debugger = Child(["gdb", "-q", "-nx", "-p", pid], "echo END-OF-STEP\\n")
    for command in ("set pagination off", "set confirm off", "break ReleasePredicateLocks"):
        debugger.do(command)
    debugger.send("continue")
    return debugger


def show(sockets):
    t1, t2, t3 = (Session(name, sockets) for name in ("T1", "T2", "T3"))
    t1.do(SETUP)
    for session in (t1, t2):
        session.say("BEGIN ISOLATION LEVEL SERIALIZABLE;")
    t2.say("UPDATE t SET value = 'y T2' WHERE id = 2;")
    t1.say("SELECT value FROM t WHERE id = 2;")
    t1.say("UPDATE t SET value = 'x T1' WHERE id = 1;")

    debugger = hold_after_visible(t2.pid)
    t2.send("COMMIT;")
    debugger.wait()
    print("T2: COMMIT; held before ReleasePredicateLocks()")
    t3.say("BEGIN ISOLATION LEVEL SERIALIZABLE;")
    saw_t2 = t3.say("SELECT value FROM t WHERE id = 2;") == "y T2"
    errors = t1.say("COMMIT;")
    debugger.send("detach\nquit")
    debugger.process.wait()
    errors += t2.wait()
    print("T2: goes on, committed")
    missed_t1 = t3.say("SELECT value FROM t WHERE id = 1;") == "x"
    errors += t3.say("COMMIT;")
    return saw_t2 and missed_t1 and not errors


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="race-"))
    folder.chmod(0o777)
    data = folder / "data"
    control = [*USER, PROGRAMS / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "-s"]
    try:
        subprocess.run([*USER, PROGRAMS / "initdb", "-D", data, "-A", "trust", "-U", "postgres"], check=True,
                       stdout=subprocess.DEVNULL, cwd=folder)
        settings = f"-c listen_addresses= -c unix_socket_directories={folder}"
        subprocess.run([*control, "-o", settings, "start"], check=True, cwd=folder)
        try:
            shown = show(folder)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd=folder)
    finally:
        shutil.rmtree(folder)
    print("all three committed: not serializable" if shown else "not shown: the server kept its promise")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
