"""PageRank by pushing along outgoing edges: shares in fixed point added by atomics"""

import numpy as np

from cases import I, UI, ceil, inp, launch, out
from graphs import graph

AFTER = "graph suites"


def make(r):
    n, block, rounds = 300, 64, 4
    edges, rows, cols = graph(r, n, 9)
    one = 1 << 20
    start = np.full(n, one, np.uint32)
    rank, base, degree = start.astype(np.uint64), one * 39 // 256, np.diff(rows)
    for _ in range(rounds):
        new = np.zeros(n, np.uint64)
        for a, b in edges:
            new[b] += rank[a] // np.uint64(degree[a])
        rank = base + (new * np.uint64(217) >> np.uint64(8))
    step = [
        launch("push", [ceil(n, block)], [block], "rows", "columns", "rank", "next", I(n)),
        launch("damp", [ceil(n, block)], [block], "rank", "next", UI(base), I(n)),
    ]
    return (
        {"rows": inp(rows), "columns": inp(cols), "rank": out(rank.astype(np.uint32), init=start), "next": out(np.zeros(n, np.uint32))},
        step * rounds,
        [],
    )
