"""All shortest paths by tiles: the diagonal tile, its row and column, the rest; local memory and barriers"""

import numpy as np

from cases import I, launch, out


def make(r):
    n, b = 32, 8
    d0 = np.where(r.random((n, n)) < 0.15, r.integers(1, 60, (n, n)), 1 << 20).astype(np.int32)
    d0[np.arange(n), np.arange(n)] = 0
    d = d0.copy()
    for k in range(n):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
    launches, tiles = [], n // b - 1
    for at in range(0, n, b):
        launches.append(launch("pivot", [b, b], [b, b], "d", I(n), I(at)))
        launches.append(launch("arms", [tiles * b, 2 * b], [b, b], "d", I(n), I(at)))
        launches.append(launch("rest", [tiles * b, tiles * b], [b, b], "d", I(n), I(at)))
    return {"d": out(d, init=d0)}, launches, []
