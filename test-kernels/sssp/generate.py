"""Single-source shortest paths: relaxation by atomic minimum until nothing changes."""

import numpy as np

from cases import I, inp, launch, out, tmp
from graphs import graph

AFTER = "graph suites"


def make(r):
    n = 190
    edges, rows, cols = graph(r, n, 6)
    source = int(np.argmax(np.diff(rows)))
    w = r.integers(1, 30, len(edges)).astype(np.uint32)
    far = 0xFFFFFFFF
    dist = [far] * n
    dist[source] = 0
    rounds = 0
    while True:
        new = list(dist)
        for (a, b), c in zip(edges, w.tolist()):
            if dist[a] != far:
                new[b] = min(new[b], dist[a] + c)
        rounds += 1
        if new == dist:
            break
        dist = new
    assert dist.count(far) < n // 3 and rounds > 5
    start = np.full(n, far, np.uint32)
    start[source] = 0
    return (
        {
            "rows": inp(rows),
            "columns": inp(cols),
            "weight": inp(w),
            "dist": out(np.array(dist, np.uint32), init=start),
            "changed": tmp("uint32", rounds),
        },
        [launch("relax", [192], [48], "rows", "columns", "weight", "dist", "changed", I(n), I(i)) for i in range(rounds)],
        [],
    )
