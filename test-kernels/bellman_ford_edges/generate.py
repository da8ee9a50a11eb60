"""Shortest paths over a list of edges, structures in memory; 64-bit distances, one launch a round to relax and one to settle"""

import numpy as np

from cases import I, ceil, inp, launch, out
from graphs import graph

AFTER = "graph suites"


def make(r):
    n, block, rounds = 120, 48, 5
    edges, _, _ = graph(r, n, 6)
    w = r.integers(1, 50, len(edges))
    table = np.array([(a, b, c) for (a, b), c in zip(edges, w)], np.int32)
    far = 1 << 40
    start = np.full(n, far, np.uint64)
    start[3] = 0
    dist, least = start.tolist(), [0xFFFFFFFF] * n
    for _ in range(rounds):
        old = list(dist)
        for (a, b), c in zip(edges, w.tolist()):
            if old[a] + c < old[b]:
                least[b] = min(least[b], old[a] + c)
        dist = [d if x == 0xFFFFFFFF else x for d, x in zip(dist, least)]
    assert sum(d < far for d in dist) > n // 2
    step = [
        launch("relax", [ceil(len(edges), block)], [block], "edges", "dist", "next", I(len(edges))),
        launch("settle", [ceil(n, block)], [block], "dist", "next", I(n)),
    ]
    return (
        {
            "edges": inp(table),
            "dist": out(np.array(dist, np.uint64), init=start),
            "next": out(np.array(least, np.uint32), init=np.full(n, 0xFFFFFFFF)),
        },
        step * rounds,
        [],
    )
