"""What the end-to-end tests share: running the real program, and seeing that it leaves nothing behind.

ORDEAL names the program under test. Tests need root (namespaces); each uses a store of its own.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORDEAL = os.environ.get("ORDEAL", str(ROOT / "build/release/ordeal"))
CAMPAIGNS = ROOT / "campaigns"
VALID, INVALID, UNKNOWN, SURROUNDINGS, BAD_INPUT, INTERNAL = 0, 1, 2, 3, 254, 255
POSTGRES = "/usr/lib/postgresql/15/bin"


class Done:
    """A finished command."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    def json(self):
        return json.loads(self.out)


def namespaces():
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return sorted(line.split()[0] for line in listed.splitlines() if line.startswith("ordeal-"))


def lab_mounts():
    lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return sorted(line for line in lines if "ordeal/labs" in line)


def lab_processes():
    """Command lines of servers that labs started."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if "ordeal/labs" in line and state != "Z":
            found.append((int(pid), line))
    return found


class EndToEnd(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ordeal-e2e-"))
        self.folder.chmod(0o755)
        self.store = self.folder / "store"
        self.program = ORDEAL
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.before = (namespaces(), lab_mounts())

    def command(self, *arguments):
        return [self.program, *map(str, arguments)]

    def ordeal(self, *arguments, timeout=300, **options):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout, **{"cwd": ROOT, **options})
        return Done(done.returncode, done.stdout, done.stderr)

    def run_campaign(self, campaign, *arguments, **options):
        path = campaign if isinstance(campaign, pathlib.Path) else CAMPAIGNS / f"{campaign}.yaml"
        return self.ordeal("run", path, "--store", self.store, *arguments, **options)

    def start(self, *arguments, **options):
        process = subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.PIPE, cwd=ROOT, stdin=subprocess.DEVNULL, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            stream.close()

    def wait_for(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.05)
        self.fail(f"waited {seconds} s for {what}")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def history(self, run=None):
        """The operations of a run, converted to JSON by the program."""
        out = self.folder / "history.json"
        done = self.ordeal("convert", (run or self.store / "latest") / "history.ohist", out)
        self.assertEqual(done.code, 0, done)
        return json.loads(out.read_text())

    def assert_nothing_left(self):
        self.assertEqual((namespaces(), lab_mounts()), self.before)
        self.assertEqual(lab_processes(), [])

    def assert_code(self, done, code):
        self.assertEqual(done.code, code, f"{done}{self.keep_history() if done.code != code else ''}")

    def keep_history(self):
        """A history with an unexpected verdict is evidence, and outlives the test."""
        history = self.store / "latest/history.ohist"
        if not history.exists():
            return ""
        kept = tempfile.NamedTemporaryFile(prefix="ordeal-kept-", suffix=".ohist", delete=False)
        with kept:
            kept.write(history.read_bytes())
        return f"\n--- history kept as {kept.name}"


def main():
    unittest.main(verbosity=2)


__all__ = ["BAD_INPUT", "CAMPAIGNS", "Done", "EndToEnd", "INTERNAL", "INVALID", "ORDEAL", "POSTGRES", "ROOT",
           "SURROUNDINGS", "UNKNOWN", "VALID", "json", "lab_processes", "main", "namespaces", "os",
           "pathlib", "signal", "subprocess", "time"]
