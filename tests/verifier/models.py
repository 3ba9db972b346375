"""Which anomalies rule out which model, and what a certificate of a model must show.

A model forbids cycles up to a class at each level (data, session, real time; places in
cycles.CLASSES, -1: none), and facts. Sources: Adya's thesis (MIT 1999) for PL-1, PL-2, PL-2.99,
PL-2+, PL-CS, PL-SI, PL-3; Cerone et al. (CONCUR 2015) for read-atomic, causal and prefix
consistency; Cerone and Gotsman (PODC 2016) for cycles under snapshot isolation; Daudjee and Salem
(VLDB 2006) and Terry et al. (PDIS 1994) for sessions; Herlihy and Wing (1990) for keys.
"""

from typing import NamedTuple

from cycles import rank

IMPOSSIBLE = {"duplicate-elements", "cyclic-versions", "garbage-read"}
COMMITTED = IMPOSSIBLE | {"G1a", "G1b", "future-read", "incompatible-order", "dirty-update"}
STABLE = COMMITTED | {"lost-update"}
ATOMIC = COMMITTED | {"internal"}
WHOLE = STABLE | ATOMIC
PRAM = {"N-MR", "MYR", "N-MW"}
PER_KEY = PRAM | {"MRWD", "non-linearizable-key"}
# By the class up to which cycles with session order are forbidden: what then is wrong on a single key.
SESSION_FACTS = [{"N-MW"}, {"N-MW", "MRWD"}] + 3 * [PRAM | {"MRWD"}]
# The same with real time. Who may see no dirty cycle may still read old versions.
TIME_FACTS = SESSION_FACTS[:2] + 3 * [PER_KEY]


class Model(NamedTuple):
    """snapshots: whether certificates have two times a transaction; None: there are no certificates.
    orders: which of session and real-time order certificates keep."""
    facts: set
    cycles: tuple
    snapshots: bool = None
    orders: tuple = ()


TRANSACTIONS = {
    "read-uncommitted": Model(IMPOSSIBLE, (0, -1, -1)),
    "read-committed": Model(COMMITTED, (1, -1, -1)),
    "monotonic-view": Model(COMMITTED, (1, -1, -1)),
    "monotonic-atomic-view": Model(COMMITTED, (1, -1, -1)),
    "monotonic-snapshot-read": Model(COMMITTED, (1, -1, -1)),
    "cursor-stability": Model(STABLE, (1, -1, -1)),
    "read-atomic": Model(ATOMIC, (1, -1, -1)),
    "causal-cerone": Model(ATOMIC, (1, -1, -1)),
    "prefix": Model(ATOMIC, (1, -1, -1)),
    "update-atomic": Model(WHOLE, (1, -1, -1)),
    "parallel-snapshot-isolation": Model(WHOLE, (1, -1, -1)),
    "consistent-view": Model(STABLE, (2, -1, -1)),
    "forward-consistent-view": Model(STABLE, (2, -1, -1)),
    "update-serializable": Model(STABLE, (2, -1, -1)),
    "repeatable-read": Model(STABLE, (4, -1, -1)),
    "snapshot-isolation": Model(WHOLE, (3, -1, -1), True),
    "serializable": Model(WHOLE, (4, -1, -1), False),
}
SINGLE_KEYS = {
    "monotonic-reads": Model({"N-MR"}, (-1, -1, -1)),
    "monotonic-writes": Model({"N-MW"}, (-1, -1, -1)),
    "read-your-writes": Model({"MYR"}, (-1, -1, -1)),
    "writes-follow-reads": Model({"MRWD"}, (-1, -1, -1)),
    "PRAM": Model(PRAM, (-1, -1, -1)),
    "per-key-linearizable": Model(PER_KEY, (-1, -1, -1)),
}


def strong_session(model):
    """What the model forbids of data, it forbids of data and session order together."""
    place = model.cycles[0]
    return Model(model.facts | SESSION_FACTS[place], (place, place, -1), model.snapshots, ("process",))


def strong(model):
    """And of real time: a session's transactions are one after the other there, too."""
    place = model.cycles[0]
    return Model(model.facts | TIME_FACTS[place], (place, place, place), model.snapshots,
                 ("process", "realtime"))


MODELS = {**TRANSACTIONS, **SINGLE_KEYS,
          **{f"strong-session-{name}": strong_session(model) for name, model in TRANSACTIONS.items()},
          **{f"strong-{name}": strong(model) for name, model in TRANSACTIONS.items()}}
MODELS["strict-serializable"] = MODELS.pop("strong-serializable")


def forbids(model, type_name):
    """Whether a model of the table rules an anomaly out."""
    place = rank(type_name)
    if place is None:
        return type_name in MODELS[model].facts
    return place[0] <= MODELS[model].cycles[place[1]]
