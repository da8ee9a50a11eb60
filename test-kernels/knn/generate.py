"""Distances and the nearest of every group by a reduction of pairs."""

import numpy as np

from bounds import E, decided, sqrt
from cases import L, f32, inp, launch, out

AFTER = "Rodinia nn"


def make(r):
    n, g = 250, 50
    p = f32(r, n, 2, low=-90, high=90)
    q = E(p) - E(np.array([12.5, -33.25]))
    d = sqrt(q[:, 0] * q[:, 0] + q[:, 1] * q[:, 1])
    rows = d.reshape(n // g, g)
    order = np.argsort(rows.v, 1)
    take = lambda i: E(
        np.take_along_axis(rows.v, order[:, i : i + 1], 1)[:, 0], np.take_along_axis(rows.e, order[:, i : i + 1], 1)[:, 0]
    )
    decided(take(0) - take(1))
    index = (order[:, 0] + np.arange(n // g) * g).astype(np.int32)
    return (
        {"points": inp(p), "distance": out(d), "least": out(take(0)), "index": out(index)},
        [launch("nearest", [n], [g], "points", "distance", "least", "index", {"f32": [12.5, -33.25]}, L(4 * g), L(4 * g))],
        [],
    )
