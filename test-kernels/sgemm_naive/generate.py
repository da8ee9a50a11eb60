"""Inner product loop, uniform loads, early return."""

import numpy as np

from bounds import U32
from cases import I, ceil, f32, inp, launch, nearest, out


def product_bound(k, a, b):
    """Of a matrix product's error: k products and k sums, so that a term is rounded at most k+1 times."""
    return (k + 1) * U32 * (np.abs(a.astype(np.float64)) @ np.abs(b)).max()


def make(r):
    m, n, k = 37, 50, 41
    a, b, d = f32(r, m, k), f32(r, k, n), f32(r, m, n)
    alpha, beta = np.float32(0.75), np.float32(-1.25)
    want = float(alpha) * (a.astype(np.float64) @ b) + float(beta) * d
    atol = float(alpha) * product_bound(k + 2, a, b) + 3 * U32
    return (
        {"A": inp(a), "B": inp(b), "C": out(want.astype(np.float32), d, atol)},
        [launch("sgemm", [ceil(n, 20), ceil(m, 5)], [20, 5], "A", "B", "C", I(m), I(n), I(k), nearest(alpha), nearest(beta))],
        [],
    )
