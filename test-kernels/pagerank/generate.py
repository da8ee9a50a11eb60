"""PageRank by pulling over incoming edges: ranks ping-pong between launches."""

import numpy as np

from bounds import E, zeros
from cases import F, inp, launch, out, tmp
from graphs import graph

AFTER = "graph suites"


def make(r):
    n = 140
    edges, rows, cols = graph(r, n, 8)
    degree = np.maximum(np.bincount(cols, minlength=n), 1).astype(np.int32)  # row v lists the vertices that link to v
    rank = E(np.full(n, np.float32(1 / n)).astype(np.float64))
    base, damping = np.float32(0.15 / n), np.float32(0.85)
    start = rank.v.astype(np.float32)
    for _ in range(6):
        share = rank / degree
        s = zeros(n)
        for v in range(n):
            t = zeros()
            for k in range(rows[v], rows[v + 1]):
                t = t + share[int(cols[k])]
            s[v] = t
        rank = base + s * damping
    l = lambda a, b: launch("pull", [140], [28], "rows", "columns", "degree", a, b, F(float(base)), F(float(damping)))
    return (
        {
            "rows": inp(rows),
            "columns": inp(cols),
            "degree": inp(degree),
            "rank": out(rank, init=start),
            "next": tmp("float32", n),
        },
        [l("rank", "next"), l("next", "rank")] * 3,
        [],
    )
