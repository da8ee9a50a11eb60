"""Breadth-first search with queues: the frontier is a list, its vertices claim others by compare-and-swap; sizes stay on the device"""

import numpy as np

from cases import I, ceil, inp, launch, out, tmp
from graphs import graph

AFTER = "graph suites"


def make(r):
    n, block = 260, 40
    edges, rows, cols = graph(r, n, 6)
    source = int(np.argmax(np.diff(rows)))
    cost, front, sizes = np.full(n, -1, np.int32), [source], []
    cost[source] = 0
    while front:
        sizes.append(len(front))
        new = sorted({b for a, b in edges if a in set(front) and cost[b] < 0})
        cost[new] = len(sizes)
        front = new
    assert len(sizes) > 4
    levels = len(sizes)
    start, first, counts = np.full(n, -1, np.int32), np.zeros(n, np.int32), np.zeros(levels + 1, np.int32)
    start[source], first[0], counts[0] = 0, source, 1
    return (
        {
            "rows": inp(rows),
            "columns": inp(cols),
            "cost": out(cost, init=start),
            "a": {"npy": first},
            "b": tmp("int32", n),
            "sizes": out(np.array(sizes + [0], np.int32), init=counts),
        },
        [
            launch("level", [ceil(sizes[d], block)], [block], "rows", "columns", "cost", *(["a", "b"] if d % 2 == 0 else ["b", "a"]), "sizes", I(d))
            for d in range(levels)
        ],
        [],
    )
