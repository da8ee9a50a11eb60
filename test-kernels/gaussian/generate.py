"""Elimination by two kernels a column, then back substitution by one work-item."""

import numpy as np

from bounds import E, zeros
from cases import I, f32, launch, out

AFTER = "Rodinia gaussian"


def make(r):
    n = 18
    a0, b0 = f32(r, n, n), f32(r, n)
    a0[np.arange(n), np.arange(n)] += 5
    a, b, x = E(a0), E(b0), zeros(n)
    mult = zeros(n, n)
    for t in range(n - 1):
        m = a[t + 1 :, t] / a[t, t]
        mult[t + 1 :, t] = m
        a[t + 1 :, t:] = a[t + 1 :, t:] - m[:, None] * a[t : t + 1, t:]
        b[t + 1 :] = b[t + 1 :] - m * b[t]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(n - 1, i, -1):
            s = s - a[i, j] * x[j]
        x[i] = s / a[i, i]
    launches = []
    for t in range(n - 1):
        launches += [
            launch("fan1", [20], [20], "a", "m", I(n), I(t)),
            launch("fan2", [20, 20], [10, 4], "a", "b", "m", I(n), I(t)),
        ]
    return (
        {"a": out(a, init=a0), "b": out(b, init=b0), "m": out(mult), "x": out(x)},
        launches + [launch("back", [1], [1], "a", "b", "x", I(n))],
        [],
    )
