"""Cluster sums by atomics in local and then global memory, fixed point; the new centres."""

import numpy as np

from bounds import E, where
from cases import I, inp, launch, out

AFTER = "Rodinia kmeans"


def make(r):
    n, k, dims = 331, 7, 3
    p, m = r.integers(0, 4096, (dims, n)).astype(np.uint16), r.integers(0, k - 1, n).astype(np.int32)  # the last cluster is empty
    sums, counts = np.zeros((k, dims), np.int32), np.bincount(m, minlength=k).astype(np.int32)
    for d in range(dims):
        np.add.at(sums[:, d], m, p[d].astype(np.int32))
    c = where(counts[:, None] > 0, E(sums) / E(np.maximum(counts, 1)[:, None]), E(np.full((k, dims), -1.0)))
    return (
        {"points": inp(p), "member": inp(m), "sums": out(sums), "counts": out(counts), "centre": out(c)},
        [
            launch("accumulate", [336], [48], "points", "member", "sums", "counts", I(n)),
            launch("centres", [k * dims], [k * dims], "sums", "counts", "centre"),
        ],
        [],
    )
