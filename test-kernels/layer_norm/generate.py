"""Rows brought to mean 0 and variance 1, a row a work-item: three walks over memory of its own"""

from bounds import E, sqrt, stack, zeros
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "machine learning layers"


def make(r):
    rows, n, small = 60, 37, nearest(1e-5)
    x, g, b = f32(r, rows, n), f32(r, n), f32(r, n)
    mean, var = zeros(rows), zeros(rows)
    for k in range(n):
        mean = mean + E(x[:, k])
    mean = mean / E(float(n))
    for k in range(n):
        d = E(x[:, k]) - mean
        var = var + d * d
    scale = E(1.0) / sqrt(var / E(float(n)) + E(small["f32"]))
    y = stack([(E(x[:, k]) - mean) * scale * E(g[k]) + E(b[k]) for k in range(n)]).T
    return (
        {"in": inp(x), "gain": inp(g), "bias": inp(b), "out": out(y)},
        [launch("normalise", [ceil(rows, 16)], [16], "in", "gain", "bias", "out", I(rows), I(n), small)],
        [],
    )
