"""Local memory as an argument (one and two), barriers in a loop, odd work-group sizes, grid-stride loop."""

import math

import numpy as np

from bounds import U32
from cases import UI, L, f32, inp, launch, out


def make(r):
    n, groups, size = 5003, 5, 96
    x = f32(r, n)
    v = r.integers(-(2**31), 2**31, n, dtype=np.int64).astype(np.int32)
    parts = [0.0] * groups
    total = groups * size
    group_of = (np.arange(n) % total) // size
    for g in range(groups):
        parts[g] = float(x[group_of == g].astype(np.float64).sum())
    # About n/(groups*size) + log2(size) + groups additions lie on the way from an element to the sum; |x| sums to about n/2.
    depth = math.ceil(n / total) + 7
    atol = depth * U32 * np.abs(x).sum() / groups * 1.1
    partial = out(np.array(parts, np.float32), atol=atol)
    final = out(np.array([math.fsum(x.tolist())], np.float32), atol=(depth + groups) * U32 * np.abs(x).sum())
    small = 75
    total2 = groups * small
    group_of = (np.arange(n) % total2) // small
    ints = np.zeros((groups, 3), np.int32)
    for g in range(groups):
        w = v[group_of == g]
        ints[g] = w.min(), w.max(), np.bitwise_xor.reduce(w)
    return (
        {"partial": partial, "sum": final, "x": inp(x), "v": inp(v), "extremes": out(ints)},
        [
            launch("reduce_sum", [total], [size], "x", "partial", L(size * 4), UI(n)),
            launch("reduce_sum", [33], [33], "partial", "sum", L(33 * 4), UI(groups)),
            launch("reduce_int", [total2], [small], "v", "extremes", L(small * 8), L(small * 4), UI(n)),
        ],
        [],
    )
