"""Jagged diagonals: rows sorted by length, results permuted back."""

import numpy as np

from bounds import E, zeros
from cases import I, f32, inp, launch, out

AFTER = "Parboil spmv"


def make(r):
    n = 118
    length = np.sort(r.integers(0, 14, n))[::-1]
    perm = r.permutation(n).astype(np.int32)
    start, cols, vals = [0], [], []
    x = f32(r, n)
    y = zeros(n)
    for k in range(length[0]):
        m = int((length > k).sum())
        c, v = r.integers(0, n, m).astype(np.int32), f32(r, m)
        cols.append(c)
        vals.append(v)
        start.append(start[-1] + m)
        y[:m] = y[:m] + E(v) * E(x[c])
    result = zeros(n)
    result[perm] = y
    return (
        {
            "start": inp(np.array(start, np.int32)),
            "length": inp(length.astype(np.int32)),
            "column": inp(np.concatenate(cols)),
            "value": inp(np.concatenate(vals)),
            "perm": inp(perm),
            "x": inp(x),
            "y": out(result),
        },
        [launch("spmv", [120], [30], "start", "length", "column", "value", "perm", "x", "y", I(n))],
        [],
    )
