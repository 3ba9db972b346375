"""Names of cycles, and which classes of them a set of edges has (Adya, 1999; names as Elle's).

A class implies those after it in CLASSES, and a level (data alone, with session order, with real
time) those after it in LEVELS.
"""

from collections import defaultdict

CLASSES = ["G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"]
LEVELS = ["", "-process", "-realtime"]


def rank(type_name):
    """Places of a type in CLASSES and LEVELS; None for one that is no cycle."""
    for level in (2, 1, 0):
        if type_name.endswith(LEVELS[level]):
            base = type_name.removesuffix(LEVELS[level])
            base = base if base in CLASSES else base + "-item"
            return (CLASSES.index(base), level) if base in CLASSES else None
    return None


def name_of(kinds):
    """The type of a cycle with edges of these kinds, in this order."""
    anti = [kind == "rw" for kind in kinds]
    adjacent = any(one and other for one, other in zip(anti, anti[1:] + anti[:1]))
    if sum(anti) > 1:
        place = 4 if adjacent else 3
    else:
        place = 2 if any(anti) else 1 if "wr" in kinds else 0
    level = 2 if "realtime" in kinds else 1 if "process" in kinds else 0
    return CLASSES[place] + LEVELS[level]


def reachable(successors, start):
    """Nodes that one or more edges lead to."""
    found, left = set(), [start]
    while left:
        for node in successors[left.pop()]:
            if node not in found:
                found.add(node)
                left.append(node)
    return found


def adjacency(pairs):
    successors = defaultdict(set)
    for start, end in pairs:
        successors[start].add(end)
    return successors


def circular(pairs, wanted):
    """Whether one of the pairs `wanted` lies on a cycle of `pairs`."""
    successors = adjacency(pairs)
    return any(start in reachable(successors, end) for start, end in wanted)


def classes(edges):
    """Those of CLASSES that a set of edges has, any level: existence only. A cycle of session or
    real-time order alone can not be, so the order edges may stand with the ww ones."""
    by_kind = defaultdict(set)
    for edge in edges:
        kind = edge.kind if edge.kind in ("wr", "rw", "ww") else "order"
        by_kind[kind].add((edge.start, edge.end))
    base = by_kind["ww"] | by_kind["order"]
    plain = base | by_kind["wr"]
    anti = by_kind["rw"]
    # A node twice, after another edge and after an rw edge: behind that no other may follow.
    product = {((a, was), (b, False)) for a, b in plain for was in (False, True)}
    turns = {((a, False), (b, True)) for a, b in anti}
    single = adjacency(plain)
    found = [circular(base, by_kind["ww"]), circular(plain, by_kind["wr"]),
             any(a in reachable(single, b) for a, b in anti),
             circular(product | turns, turns), circular(plain | anti, anti)]
    return [name for name, is_there in zip(CLASSES, found) if is_there]


def all_types(rules):
    """Types of cycles of a history, each class at each level where it exists."""
    edges, found = set(rules.required), set()
    for level, kind in enumerate(("", "process", "realtime")):
        edges |= rules.order_edges(kind) if kind else set()
        found |= {name + LEVELS[level] for name in classes(edges)}
    return found
