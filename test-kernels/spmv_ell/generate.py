"""Sparse rows padded to one length, stored by columns."""

import numpy as np

from bounds import E, where, zeros
from cases import I, f32, inp, launch, out

AFTER = "SHOC spmv"


def make(r):
    n, width = 131, 9
    length = r.integers(0, width + 1, n)
    col = np.where(np.arange(width)[:, None] < length, r.integers(0, n, (width, n)), -1).astype(np.int32)
    val, x = f32(r, width, n), f32(r, n)
    y = zeros(n)
    for k in range(width):
        y = where(col[k] >= 0, y + E(val[k]) * E(x[col[k]]), y)
    return (
        {"column": inp(col), "value": inp(val), "x": inp(x), "y": out(y)},
        [launch("spmv", [135], [45], "column", "value", "x", "y", I(n), I(width))],
        [],
    )
