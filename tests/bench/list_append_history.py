#!/usr/bin/env python3
"""Prints a strictly serializable list-append history as Jepsen EDN: TRANSACTIONS SEED.

Ten keys at a time and twenty processes; a key gets 64 appends. Each transaction takes effect at once, at a moment
between its invocation and its completion.
"""
import random
import sys

KEYS, PROCESSES, WRITES_MAX = 10, 20, 64


def main():
    transactions, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    keys, next_key, lists = list(range(KEYS)), KEYS, {}
    running, index, time = {}, 0, 0

    def show(kind, process, micro_ops):
        nonlocal index, time
        time += rng.randrange(1, 50_000)
        shown = " ".join(f"[:{f} {k} {v}]" for f, k, v in micro_ops)
        print(f"{{:index {index}, :time {time}, :type :{kind}, :process {process}, :f :txn, "
              f":value [{shown}]}}")
        index += 1

    def perform(micro_ops):
        done = []
        for function, key, value in micro_ops:
            if function == "r":
                value = "[" + " ".join(map(str, lists.get(key, ()))) + "]"
            else:
                lists.setdefault(key, []).append(value)
            done.append((function, key, value))
        return done

    written = {}
    while transactions or running:
        process = rng.randrange(PROCESSES)
        if process in running:
            show("ok", process, perform(running.pop(process)))
        elif transactions:
            transactions -= 1
            micro_ops = []
            for _ in range(rng.randint(1, 4)):
                slot = min(int(rng.expovariate(3 / KEYS)), KEYS - 1)
                key = keys[slot]
                if rng.random() < 0.5:
                    micro_ops.append(("r", key, "nil"))
                    continue
                written[key] = written.get(key, 0) + 1
                micro_ops.append(("append", key, written[key]))
                if written[key] == WRITES_MAX:
                    keys[slot], next_key = next_key, next_key + 1
            running[process] = micro_ops
            show("invoke", process, micro_ops)


if __name__ == "__main__":
    main()
