"""Likelihoods from image samples, normalised weights, a serial prefix sum, resampling by search."""

import numpy as np

from bounds import E, decided, exp, zeros
from cases import I, inp, launch, out

AFTER = "Rodinia particlefilter"


def make(r):
    n, points, size = 60, 13, 32
    image = r.integers(0, 256, (size, size)).astype(np.uint8)
    pos = r.integers(0, size, (n, 2)).astype(np.int32)
    offs = r.integers(-3, 4, (points, 2)).astype(np.int32)
    s = np.zeros(n, np.int64)
    for dx, dy in offs:
        v = image[(pos[:, 1] + dy) % size, (pos[:, 0] + dx) % size].astype(np.int64)
        s += (v - 100) ** 2 - (v - 228) ** 2
    weight = exp(E(s) / 262144.0)
    total = zeros()
    cdf = zeros(n)
    for i in range(n):
        total = total + weight[i]
        cdf[i] = total
    u = E(np.arange(n)) / float(n) * total + total * np.float32(0.003)
    chosen = []
    for i in range(n):
        chosen.append(int(np.argmin(decided(cdf - u[i]))))
    moved = pos[chosen]
    return (
        {
            "image": inp(image),
            "pos": inp(pos),
            "offset": inp(offs),
            "weight": out(weight),
            "cdf": out(cdf),
            "moved": out(moved.astype(np.int32)),
            "chosen": out(np.array(chosen, np.int32)),
        },
        [
            launch("likelihood", [n], [20], "image", "pos", "offset", "weight", I(points), I(size)),
            launch("accumulate", [1], [1], "weight", "cdf", I(n)),
            launch("resample", [n], [15], "cdf", "pos", "moved", "chosen", I(n)),
        ],
        [],
    )
