"""Histories of a store that is strictly serializable by construction: each transaction happens at
one instant between its invocation and its completion. As events in the shorthand of support.py."""


def value_of(state, is_register):
    if is_register:
        return state[-1] if state else "_"
    return "[" + ",".join(state) + "]"


class Store:
    """Keys are letters; values 1, 2, ... per key."""

    def __init__(self, rng, is_register, keys):
        self.rng, self.is_register, self.keys = rng, is_register, keys
        self.states = {key: [] for key in keys}
        self.written = {key: 0 for key in keys}

    def new(self):
        """Micro-operations of a transaction: (function, key, value or None)."""
        found = []
        for _ in range(self.rng.randint(1, 4)):
            key = self.rng.choice(self.keys)
            if self.rng.random() < 0.5:
                found.append(("r", key, None))
            else:
                self.written[key] += 1
                found.append(("w" if self.is_register else "a", key, str(self.written[key])))
        return found

    def execute(self, micro_ops):
        """In shorthand, with what the reads return."""
        words = []
        for function, key, value in micro_ops:
            if function == "r":
                value = value_of(self.states[key], self.is_register)
            else:
                self.states[key].append(value)
            words.append(function + key + value)
        return " ".join(words)


def question(micro_ops):
    return " ".join(function + key + (value or "_") for function, key, value in micro_ops)


def simulate(rng, transactions, is_register=False, keys="abc", processes=4):
    """Events of a history; some transactions fail, some have an open outcome."""
    store, events, running = Store(rng, is_register, keys), [], {}
    alive, next_process = list(range(processes)), processes
    while transactions or running:
        process = rng.choice(alive)
        if process not in running:
            if transactions:
                transactions -= 1
                running[process] = store.new()
                events.append((process, "invoke", question(running[process])))
            continue
        micro_ops, roll = running.pop(process), rng.random()
        if roll < 0.05:
            events.append((process, "fail", question(micro_ops)))
        elif roll < 0.1:
            if rng.random() < 0.5:
                store.execute(micro_ops)
            events.append((process, "info", question(micro_ops)))
            alive[alive.index(process)] = next_process
            next_process += 1
        else:
            events.append((process, "ok", store.execute(micro_ops)))
    return events
