"""A Walsh-Hadamard transform in place: steps in local memory by powers of two, then two steps a launch"""

import numpy as np

from cases import I, L, launch, out

AFTER = "vendor samples"


def make(r):
    n, group = 1024, 32
    x = r.integers(-1000, 1000, n).astype(np.int32)
    y, step = x.copy(), 1
    while step < n:
        v = y.reshape(-1, 2, step)
        y = np.stack([v[:, 0] + v[:, 1], v[:, 0] - v[:, 1]], 1).reshape(n)
        step *= 2
    return (
        {"data": out(y.astype(np.int32), init=x)},
        [
            launch("within", [n // 2], [group], "data", L(8 * group)),
            launch("across", [n // 4], [group], "data", I(64)),
            launch("across", [n // 4], [group], "data", I(256)),
        ],
        [],
    )
