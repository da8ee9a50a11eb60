"""Triangles by merging sorted neighbour lists; 64-bit total."""

import numpy as np

from cases import I, inp, launch, out
from graphs import graph

AFTER = "graph suites"


def make(r):
    n = 64
    edges, rows, cols = graph(r, n, 7, symmetric=True)
    adjacent = {(a, b) for a, b in edges}
    per = np.zeros(n, np.int32)
    for a, b in edges:
        if a < b:
            per[a] += sum((a, c) in adjacent and (b, c) in adjacent for c in range(b + 1, n))
    return (
        {
            "rows": inp(rows),
            "columns": inp(cols),
            "per": out(per),
            "total": out(np.array([int(per.sum()) << 30], np.int64), init=np.zeros(1)),
        },
        [launch("count", [66], [33], "rows", "columns", "per", "total", I(n))],
        [],
    )
