"""A search by cooperating work-items: structures in global memory, a node a step through local memory."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "Rodinia b+tree"


def make(r):
    order, n, queries = 8, 200, 40
    keys = np.sort(r.choice(5000, n, replace=False)).astype(np.int32)
    values = r.integers(0, 1 << 30, n).astype(np.int32)
    big = 2**31 - 1
    # Levels from the leaves up: a node is (keys[order], children[order]); a key is the least of its child.
    nodes, level = [], []
    for i in range(0, n, order - 1):
        k = keys[i : i + order - 1].tolist()
        nodes.append(k + [big] * (order - len(k)) + list(range(i, i + len(k))) + [-1] * (order - len(k)))
        level.append((k[0], len(nodes) - 1))
    height = 1
    while len(level) > 1:
        above = []
        for i in range(0, len(level), order - 1):
            part = level[i : i + order - 1]
            nodes.append([k for k, _ in part] + [big] * (order - len(part)) + [c for _, c in part] + [-1] * (order - len(part)))
            above.append((part[0][0], len(nodes) - 1))
        level, height = above, height + 1
    root = level[0][1]
    q = np.concatenate([r.choice(keys, queries // 2), r.integers(0, 5000, queries // 2)]).astype(np.int32)
    at = {int(k): int(v) for k, v in zip(keys, values)}
    found = np.array([at.get(int(k), -1) for k in q], np.int32)
    return (
        {"nodes": inp(np.array(nodes, np.int32)), "values": inp(values), "queries": inp(q), "found": out(found)},
        [launch("find", [queries * order], [order], "nodes", "values", "queries", "found", I(root), I(height))],
        [],
    )
