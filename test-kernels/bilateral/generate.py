"""Bilateral filter: weights from distance in place and in value, a normalising division."""

import numpy as np

from bounds import E, exp, zeros
from cases import I, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    w, h = 26, 19
    image = f32(r, h, w, low=0, high=1)
    image[:, w // 2 :] += np.float32(1)
    space = np.exp(-np.array([[i * i + j * j for j in (-2, -1, 0, 1, 2)] for i in (-2, -1, 0, 1, 2)]) / 4.5).astype(np.float32)
    p, c = np.pad(image, 2, mode="edge"), E(image)
    sum_, norm = zeros(h, w), zeros(h, w)
    for i in range(5):
        for j in range(5):
            o = E(p[i : i + h, j : j + w])
            d = o - c
            k = E(space[i, j]) * exp(d * d * -8.0)
            sum_, norm = sum_ + k * o, norm + k
    return (
        {"in": inp(image), "out": out(sum_ / norm), "space": inp(space)},
        [launch("bilateral", [28, 20], [14, 5], "in", "out", "space", I(w), I(h))],
        [],
    )
