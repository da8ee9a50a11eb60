"""Means, deviations, a guarded division, a symmetric product."""

import numpy as np

from bounds import E, decided, sqrt, where, zeros
from cases import I, f32, launch, out

AFTER = "PolyBench correlation, covariance"


def make(r):
    n, m = 37, 22
    x = f32(r, n, m)
    x[:, 5] = 2.0  # no deviation
    X = E(x)
    mean = zeros(m)
    for k in range(n):
        mean = mean + X[k]
    mean = mean / n
    var = zeros(m)
    for k in range(n):
        d = X[k] - mean
        var = var + d * d
    dev = sqrt(var / n)
    dev = where(decided(dev, 0.1), E(np.ones(m)), dev)
    z = (X - mean) / (sqrt(E(np.float64(n))) * dev)
    c = zeros(m, m)
    for k in range(n):
        c = c + z[k][:, None] * z[k][None, :]
    i = np.arange(m)
    c.v[i, i], c.e[i, i] = 1, 0
    return (
        {"x": out(z, init=x), "mean": out(mean), "dev": out(dev), "c": out(c)},
        [
            launch("moments", [24], [24], "x", "mean", "dev", I(n), I(m)),
            launch("normalise", [24, n], [8, 1], "x", "mean", "dev", I(n), I(m)),
            launch("correlate", [24], [8], "x", "c", I(n), I(m)),
        ],
        [],
    )
