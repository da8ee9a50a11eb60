"""Fused double-precision sums, local argument."""

import numpy as np

from cases import I, given, launch

SEED = 18


def make(r):
    n = 5003
    a, b = r.standard_normal(n), r.standard_normal(n)
    partial = np.zeros(8)
    for g in range(8):
        partial[g] = sum(a[i] * b[i] for l in range(96) for i in range(g * 96 + l, n, 768))
    return (
        {"a": given(a), "b": given(b), "out": given(np.zeros(8), partial, 1e-12, 1e-12)},
        [launch("dot_product", [768], [96], "a", "b", "out", {"local": 768}, I(n))],
        [],
    )
