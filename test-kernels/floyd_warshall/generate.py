"""All shortest paths: one launch a pivot, with the path's last hop."""

import numpy as np

from cases import I, launch, out

AFTER = "PolyBench, vendor samples"


def make(r):
    n = 23
    big = 1 << 20
    d0 = np.where(r.random((n, n)) < 0.25, r.integers(1, 50, (n, n)), big).astype(np.int32)
    d0[np.arange(n), np.arange(n)] = 0
    d, hop = d0.copy(), np.full((n, n), -1, np.int32)
    for k in range(n):
        via = d[:, k : k + 1] + d[k : k + 1, :]
        better = via < d
        d, hop = np.where(better, via, d).astype(np.int32), np.where(better, k, hop).astype(np.int32)
    return (
        {"d": out(d, init=d0), "hop": out(hop, init=np.full((n, n), -1))},
        [launch("relax", [24, 24], [24, 3], "d", "hop", I(n), I(k)) for k in range(n)],
        [],
    )
