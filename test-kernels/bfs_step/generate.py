"""Frontier expansion with compare-and-swap, eight dependent launches."""

import numpy as np

from cases import I, given, launch

SEED = 13


def make(r):
    n = 300
    edges = [sorted(set(r.integers(0, n, r.integers(0, 5)).tolist())) for _ in range(n)]
    rows = np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int32)
    columns = np.array([t for e in edges for t in e], np.int32)
    level = np.full(n, -1, np.int32)
    level[0] = 0
    frontier, depth = [0], 0
    while frontier and depth < 8:
        following = []
        for v in frontier:
            for t in edges[v]:
                if level[t] < 0:
                    level[t] = depth + 1
                    following.append(t)
        frontier, depth = following, depth + 1
    start = np.full(n, -1, np.int32)
    start[0] = 0
    return (
        {"rows": given(rows), "columns": given(columns), "level": given(start, level)},
        [launch("step", [330], [33], "rows", "columns", "level", I(d), I(n)) for d in range(8)],
        [],
    )
