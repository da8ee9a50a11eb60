"""Blocked LU: diagonal, perimeter and interior kernels over local tiles."""

import numpy as np

from bounds import E
from cases import I, f32, launch, out

AFTER = "Rodinia lud"


def make(r):
    b, blocks = 6, 4
    n = b * blocks
    a0 = f32(r, n, n)
    a0[np.arange(n), np.arange(n)] += 6
    a = E(a0)
    for k in range(n):
        a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k + 1 :] = a[k + 1 :, k + 1 :] - a[k + 1 :, k : k + 1] * a[k : k + 1, k + 1 :]
    launches = []
    for k in range(blocks):
        launches.append(launch("diagonal", [b], [b], "a", I(n), I(k * b)))
        rest = blocks - k - 1
        if rest:
            launches.append(launch("perimeter", [rest * 2 * b], [2 * b], "a", I(n), I(k * b)))
            launches.append(launch("interior", [rest * b, rest * b], [b, b], "a", I(n), I(k * b)))
    return {"a": out(a, init=a0)}, launches, []
