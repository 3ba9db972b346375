#!/usr/bin/env python3
"""Our TCP fault proxy and toxiproxy 2.5 side by side over loopback, without toxics.

    scripts/build release ordeal proxy_load && tests/bench/proxy_side_by_side.py [ROUNDS]

Builds toxiproxy with `go` from its module, at the version below, into build/bench. Each figure is the
median of ROUNDS (5), the contestants taking turns; `direct` is without a proxy. Needs an idle machine; run
by root, it measures round trips at real-time priority, so that other work matters less there.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORDEAL = ROOT / "build/release/ordeal"
LOAD = ROOT / "build/release/tests/bench/proxy_load"
TOXIPROXY_VERSION = "v2.5.0"
IDLE_CONNECTIONS = 1000


def build_toxiproxy():
    folder = ROOT / "build/bench"
    program = folder / "server"
    if not program.exists():
        if shutil.which("go") is None:
            raise SystemExit("building toxiproxy needs `go`: install the package golang-go")
        folder.mkdir(parents=True, exist_ok=True)
        package = f"github.com/Shopify/toxiproxy/v2/cmd/server@{TOXIPROXY_VERSION}"
        subprocess.run(["go", "install", package], check=True,
                       env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-mod=mod"})
    return program


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Contestant:
    """One way from the load generator's clients to its servers."""

    def __init__(self, name, command=None):
        self.name, self.process = name, None
        self.upstream = self.port = free_port()
        if command is None:
            return
        self.port, api = free_port(), free_port()
        self.process = subprocess.Popen([part.format(port=api) for part in command],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.create(api)

    def create(self, api):
        body = {"name": "leg", "listen": f"127.0.0.1:{self.port}",
                "upstream": f"127.0.0.1:{self.upstream}"}
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{api}/proxies", json.dumps(body).encode())
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{self.name} does not answer")

    def set_scheduler(self, policy, priority):
        """Of all threads of the proxy."""
        threads = os.listdir(f"/proc/{self.process.pid}/task") if self.process else []
        for thread in map(int, threads):
            os.sched_setscheduler(thread, policy, os.sched_param(priority))

    def latency(self):
        """Microseconds of a round trip, p50 and p99."""
        if os.geteuid() != 0:
            return self.load("latency", 20000)
        self.set_scheduler(os.SCHED_RR, 5)
        try:
            return self.load("latency", 20000, prefix=["chrt", "-r", "5"])
        finally:
            self.set_scheduler(os.SCHED_OTHER, 0)

    def load(self, what, *arguments, prefix=()):
        command = [*prefix, LOAD, what, self.port, self.upstream, *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    def memory(self):
        """Of the proxy's process, in MiB: resident, all of it private."""
        rollup = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        fields = dict(line.split(":") for line in rollup.splitlines()[1:])
        return sum(int(fields[name].split()[0]) for name in ("Private_Clean", "Private_Dirty")) / 1024

    def cpu_seconds(self):
        """That the proxy's process has used so far."""
        if self.process is None:
            return 0
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def throughput(self, connections):
        """MB/s, and milliseconds of the proxy's CPU time per GB."""
        before = self.cpu_seconds()
        rate, moved = self.load("throughput", connections, 3)
        return rate, (self.cpu_seconds() - before) * 1e6 / moved

    def idle_memory(self):
        """MiB that idle connections add."""
        if self.process is None:
            return 0
        before = self.memory()
        command = [LOAD, "idle", self.port, self.upstream, IDLE_CONNECTIONS]
        with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as load:
            load.stdout.readline()
            time.sleep(1)
            return self.memory() - before


def measure(contestant):
    p50, p99 = contestant.latency()
    (one, cpu_one), (many, cpu_many) = contestant.throughput(1), contestant.throughput(64)
    return {"one": one, "cpu_one": cpu_one, "many": many, "cpu_many": cpu_many, "p50": p50, "p99": p99}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    return parser.parse_args()


def main():
    rounds = arguments().rounds
    for program in (ORDEAL, LOAD):
        if not program.exists():
            raise SystemExit(f"{program} is missing: run `scripts/build release ordeal proxy_load` first")
    toxiproxy = build_toxiproxy()
    contestants = [
        Contestant("direct"),
        Contestant("ordeal", [str(ORDEAL), "proxy", "--listen", "127.0.0.1:{port}"]),
        Contestant("toxiproxy 2.5", [str(toxiproxy), "-host", "127.0.0.1", "-port", "{port}"]),
    ]
    try:
        idle = {each.name: each.idle_memory() for each in contestants}
        measured = {each.name: [] for each in contestants}
        for _ in range(rounds):
            for each in contestants:
                measured[each.name].append(measure(each))
        table(measured, idle)
    finally:
        for each in contestants:
            if each.process:
                each.process.terminate()
                each.process.wait()


def table(measured, idle):
    medians = {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
               for name, runs in measured.items()}
    direct = medians["direct"]
    print("| | MB/s, 1 connection | 64 connections | CPU ms/GB, 1 connection | 64 connections "
          "| round trip p50 (added), µs | p99 (added), µs "
          f"| MiB for {IDLE_CONNECTIONS:,} idle connections |")
    print("|---" * 8 + "|")
    for name, row in medians.items():
        added = [f"{row[key]:.1f} ({row[key] - direct[key]:.1f})" for key in ("p50", "p99")]
        print(f"| {name} | {row['one']:,.0f} | {row['many']:,.0f} "
              f"| {row['cpu_one']:,.0f} | {row['cpu_many']:,.0f} | {added[0]} | {added[1]} "
              f"| {idle[name]:.1f} |")
    ours, theirs = medians["ordeal"], medians["toxiproxy 2.5"]
    print(f"\nthroughput x{ours['one'] / theirs['one']:.1f} (1 connection), "
          f"x{ours['many'] / theirs['many']:.1f} (64); added p99 {ours['p99'] - direct['p99']:.1f} µs "
          f"against {theirs['p99'] - direct['p99']:.1f} µs")


if __name__ == "__main__":
    main()
