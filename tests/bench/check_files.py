#!/usr/bin/env python3
"""Times `ordeal check` from file to verdict: ORDEAL MODEL FILE...

Runs each check three times and prints the best: seconds to read and to check as Ordeal says, wall-clock and CPU seconds
and peak memory of the whole program, and by how much the wall-clock time grew from one file to the next.

Before each run, three quarters of the free memory are touched and given back: a guest of some hypervisors pays many times
as much for a page that it has not used for a while.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

RUNS = 3


WARM = "import sys; bytearray(int(sys.argv[1]) << 20)"  # bytearray() writes zeros


def once(command):
    free_mib = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    subprocess.run([sys.executable, "-c", WARM, str(free_mib * 3 // 4)], check=True)
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        verdict = json.loads(process.stdout.read())
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return {"wall": time.monotonic() - begin, "cpu": used.ru_utime + used.ru_stime,
            "MiB": used.ru_maxrss / 1024, "valid": verdict["valid"], **verdict["seconds"]}


def main():
    ordeal, model, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    print(f"{'file':24} {'valid':>6} {'read':>8} {'check':>8} {'wall':>8} {'cpu':>8} {'MiB':>6}  growth")
    before = None
    for file in files:
        command = [ordeal, "check", "--json", "--model", model, file]
        row = min((once(command) for _ in range(RUNS)), key=lambda each: each["wall"])
        growth = f"x{row['wall'] / before:.1f}" if before else ""
        before = row["wall"]
        print(f"{pathlib.Path(file).name:24} {row['valid']!s:>6} {row['read']:8.3f} {row['check']:8.3f} "
              f"{row['wall']:8.3f} {row['cpu']:8.3f} {row['MiB']:6.0f}  {growth}", flush=True)


if __name__ == "__main__":
    main()
