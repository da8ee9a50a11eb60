"""Static local arrays, barriers, unrolled inner loop."""

import numpy as np

from bounds import U32
from cases import I, ceil, f32, inp, launch, out


def product_bound(k, a, b):
    """Of a matrix product's error: k products and k sums, so that a term is rounded at most k+1 times."""
    return (k + 1) * U32 * (np.abs(a.astype(np.float64)) @ np.abs(b)).max()


def make(r):
    m, n, k = 45, 52, 43
    a, b = f32(r, m, k), f32(r, k, n)
    want = a.astype(np.float64) @ b
    return (
        {"A": inp(a), "B": inp(b), "C": out(want.astype(np.float32), atol=product_bound(k, a, b))},
        [launch("sgemm_tiled", [ceil(n, 8), ceil(m, 8)], [8, 8], "A", "B", "C", I(m), I(n), I(k))],
        ["-DTILE=8"],
    )
