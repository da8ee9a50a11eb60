"""Tridiagonal systems by elimination, along rows and then columns; private recurrences."""

import numpy as np

from bounds import E, zeros
from cases import I, f32, launch, out, tmp

AFTER = "PolyBench adi"


def make(r):
    n = 20
    x0 = f32(r, n, n)
    x = E(x0)

    def sweep(x):
        c, d = zeros(n, n), zeros(n, n)
        c[0], d[0] = E(np.full(n, -1.0)) / 4.0, x[0] / 4.0
        for k in range(1, n):
            low = 4.0 + c[k - 1]
            c[k] = -1.0 / low
            d[k] = (x[k] + d[k - 1]) / low
        y = zeros(n, n)
        y[n - 1] = d[n - 1]
        for k in range(n - 2, -1, -1):
            y[k] = d[k] - c[k] * y[k + 1]
        return y

    x = sweep(x.T).T
    x = sweep(x)
    return (
        {"x": out(x, init=x0), "c": tmp("float32", n, n)},
        [launch("sweep", [24], [8], "x", "c", I(n), I(1), I(n)), launch("sweep", [24], [12], "x", "c", I(n), I(n), I(1))],
        [],
    )
