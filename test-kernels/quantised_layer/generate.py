"""A layer on bytes: char4 products, 64-bit scaling, saturation"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "machine learning layers"


def make(r):
    rows, columns, k, scale, shift = 13, 21, 36, 2000000000, 39
    x, w = r.integers(-128, 128, (rows, k)).astype(np.int8), r.integers(-128, 128, (columns, k)).astype(np.int8)
    b = r.integers(-9000, 9000, columns).astype(np.int32)
    s = x.astype(np.int64) @ w.astype(np.int64).T + b
    y = np.clip((s * scale + (1 << (shift - 1))) >> shift, -128, 127).astype(np.int8)
    assert (abs(y) >= 127).any() and abs(y.astype(int)).min() < 5
    return (
        {"x": inp(x), "weight": inp(w), "bias": inp(b), "out": out(y)},
        [launch("layer", [ceil(columns, 8), ceil(rows, 4)], [8, 4], "x", "weight", "bias", "out", I(rows), I(columns), I(k // 4), I(scale), I(shift))],
        [],
    )
