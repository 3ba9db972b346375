#!/usr/bin/env python3
"""kill -9 storm: runs of a small campaign whose control process is killed at a random instant.

    python3 tests/bench/storm.py [RUNS [SEED]]

After each kill either `ordeal heal` or the hosts' watchdogs (every tenth time) have to undo what is left.
Then the host is looked at: no rule of a packet filter, no shaping, no frozen process, no wrong clock, no
watchdog; and no lab after `ordeal lab down`. Prints a line a run and a table of what was active when.
Needs root, and a release build (ORDEAL names another).
"""
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORDEAL = os.environ.get("ORDEAL", str(ROOT / "build/release/ordeal"))
CAMPAIGN = """
name: storm
hosts: {lab: netns, names: [n1]}
target: {postgres: {version: 15, settings: {fsync: off}, operation-timeout: 1s}}
workload: {list-append: {isolation: serializable}}
duration: 60s
workers: 3
rate: 60
faults:
  partition:
  packet-loss:
  bandwidth-limit:
  pause:
  kill:
  stop:
  clock-skew:
  latency:
  timeout:
schedule: {interval: 300ms, duration-min: 1s, duration-max: 3s, quiet-start: 0s, recovery: 100ms}
complexity: high
check:
  list-append: {model: snapshot-isolation}
"""
LOOK = r"""
iptables -w 5 -S | grep -c ORDEAL | sed 's/^/rules /'
tc qdisc show | grep -cE ' (tbf|prio|netem) ' | sed 's/^/shaping /'
for stat in /proc/[0-9]*/stat; do sed 's/.*) //' "$stat" 2>/dev/null; done | grep -c '^[Tt]' | sed 's/^/frozen /'
grep -lsz '^ordeal-watchdog:' /proc/[0-9]*/cmdline | wc -l | sed 's/^/watchdogs /'
control=$1/postgres/control
sh "$control" state | sed 's/^/server /'
offset=$(sh "$control" clock-reading /usr/lib/postgresql/15/bin 5432) || offset=unknown
echo "clock $offset"
"""


def run(*arguments, timeout=120):
    return subprocess.run([ORDEAL, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


def active_faults(journal):
    left = {}
    for line in journal.read_text().splitlines() if journal.exists() else []:
        event = json.loads(line)
        if event["event"] == "begin":
            left[event["id"]] = event["fault"]
        else:
            left.pop(event["id"], None)
    return sorted(left.values())


def look(lab):
    """What is wrong on the host; empty when nothing is."""
    done = run("lab", "exec", "--name", lab["name"], "n1", "--", "sh", "-c", LOOK, "sh", lab["hosts"][0]["directory"])
    seen = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    wrong = [f"{what} {seen.get(what)}" for what in ("rules", "shaping", "frozen", "watchdogs") if seen.get(what) != "0"]
    if seen.get("server") != "running":
        wrong.append(f"server {seen.get('server')}")
    try:
        if abs(float(seen.get("clock", "unknown"))) > 0.5:
            wrong.append(f"clock {seen['clock']}")
    except ValueError:
        wrong.append(f"clock {seen.get('clock')}")
    return wrong


def becomes_clean(lab, within):
    deadline = time.monotonic() + within
    while wrong := look(lab):
        if time.monotonic() > deadline:
            return wrong
        time.sleep(0.5)
    return []


def one_run(folder, number, chance):
    store = folder / f"store{number}"
    process = subprocess.Popen([ORDEAL, "run", str(folder / "storm.yaml"), "--store", str(store), "--quiet",
                                "--seed", str(chance.randrange(10**9))],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    latest = store / "latest"
    while not (latest / "heal.jsonl").exists():
        if process.poll() is not None:
            return ["the run ended early"], [], "nothing"
        time.sleep(0.02)
    time.sleep(chance.uniform(0, 6))
    process.send_signal(signal.SIGKILL)
    process.wait()
    active = active_faults(latest / "heal.jsonl")
    lab = json.loads((latest / "lab.json").read_text())
    by_watchdog = number % 10 == 9
    if not by_watchdog:
        healed = run("heal", latest)
        if healed.returncode != 0:
            return [f"heal: {healed.stderr.strip()}"], active, "heal"
    wrong = becomes_clean(lab, 50 if by_watchdog else 5)
    run("lab", "down", "--name", lab["name"])
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    if lab["name"] in listed:
        wrong.append("the lab is still there")
    return wrong, active, "watchdog" if by_watchdog else "heal"


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    chance = random.Random(seed)
    print(f"seed {seed}, {runs} runs", flush=True)
    found, bad, ways = collections.Counter(), 0, collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "storm.yaml").write_text(CAMPAIGN)
        for number in range(runs):
            wrong, active, way = one_run(folder, number, chance)
            found.update(active or ["nothing"])
            ways[way] += 1
            bad += bool(wrong)
            print(f"{number + 1:4} {way:8} active: {', '.join(active) or 'nothing'}"
                  f"{'  LEFT: ' + '; '.join(wrong) if wrong else ''}", flush=True)
    print(f"{runs} runs, {bad} left something; undone by {dict(ways)}; active when killed: {dict(found)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
