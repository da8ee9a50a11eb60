"""Mean, variance and extremes of overlapping windows: recurrences with divisions, neighbours share almost all reads"""

import numpy as np

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "statistics"


def make(r):
    n, width = 230, 14
    x, count = f32(r, n, low=-3, high=9), 230 - 14 + 1
    m, s = zeros(count), zeros(count)
    for k in range(width):
        v = E(x[k : k + count])
        d = v - m
        m = m + d / E(float(k + 1))
        s = s + d * (v - m)
    w = np.lib.stride_tricks.sliding_window_view(x, width)
    return (
        {
            "x": inp(x),
            "mean": out(m),
            "variance": out(s / E(width - 1.0)),
            "extremes": out(np.stack([w.min(1), w.max(1)], 1)),
        },
        [launch("windows", [ceil(count, 32)], [32], "x", "mean", "variance", "extremes", I(n), I(width))],
        [],
    )
