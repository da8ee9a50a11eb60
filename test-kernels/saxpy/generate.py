"""Streaming, bounds guard, global size rounded up."""

import numpy as np

from bounds import U32
from cases import UI, ceil, f32, inp, launch, nearest, out


def make(r):
    n, a = 1003, np.float32(1.7)
    x, y = f32(r, n, low=-10, high=10), f32(r, n, low=-10, high=10)
    want = float(a) * x.astype(np.float64) + y
    # Two roundings (one if contracted): of a*x, up to 17, and of the sum.
    return (
        {"x": inp(x), "y": out(want.astype(np.float32), y, 17 * U32, 2 * U32)},
        [launch("saxpy", [ceil(n, 64)], [64], "x", "y", nearest(a), UI(n))],
        [],
    )
