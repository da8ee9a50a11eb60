"""A convolution layer: weights in constant memory, planes of the grid as channels, zeros beyond the border"""

import numpy as np

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "machine learning layers"


def make(r):
    w, h, c, to = 19, 11, 3, 4
    x, k, b = f32(r, c, h, w), f32(r, to, c, 3, 3), f32(r, to)
    p = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    y = zeros(to, h, w) + E(b[:, None, None])
    for ch in range(c):
        for j in range(3):
            for i in range(3):
                y = y + E(k[:, ch, j, i][:, None, None]) * E(p[ch, j : j + h, i : i + w][None])
    return (
        {"in": inp(x), "weight": inp(k), "bias": inp(b), "out": out(y.exact(lambda v: np.maximum(v, 0)))},
        [launch("conv", [ceil(w, 8), ceil(h, 4), to], [8, 4, 1], "in", "weight", "bias", "out", I(w), I(h), I(c))],
        [],
    )
