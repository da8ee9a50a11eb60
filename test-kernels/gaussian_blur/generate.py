"""Separable Gaussian: a row pass and a column pass over local tiles with halos."""

import numpy as np

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    w, h, radius = 45, 31, 4
    image = f32(r, h, w)
    taps = np.exp(-(np.arange(-radius, radius + 1) ** 2) / 6.0)
    taps = (taps / taps.sum()).astype(np.float32)

    def blur(x):
        p = E(np.pad(x.v, ((0, 0), (radius, radius))), np.pad(x.e, ((0, 0), (radius, radius))))
        s = zeros(*x.shape)
        for k in range(2 * radius + 1):
            s = s + p[:, k : k + x.shape[1]] * E(taps[k])
        return s

    rows = blur(E(image))
    y = blur(rows.T).T
    return (
        {"in": inp(image), "rows": out(rows), "out": out(y), "taps": inp(taps)},
        [
            launch("blur", [ceil(w, 16), h], [16, 1], "in", "rows", "taps", I(w), I(1), I(w)),
            launch("blur", [ceil(h, 16), w], [16, 1], "rows", "out", "taps", I(h), I(w), I(1)),
        ],
        [],
    )
