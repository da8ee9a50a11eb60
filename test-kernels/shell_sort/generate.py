"""Shell sort of a row a work-item: in private memory with computed indices, and in place on bytes in global memory"""

import numpy as np

from cases import I, ceil, f32, inp, launch, out

AFTER = "sorting suites"


def make(r):
    n, width, count = 31, 33, 45
    x, b = f32(r, count, width), r.integers(0, 256, (count, 19)).astype(np.uint8)
    size = [ceil(count, 16)]
    return (
        {"in": inp(x), "out": out(np.sort(x[:, :n], 1).T), "data": out(np.sort(b, 1), init=b)},
        [launch("rows", size, [16], "in", "out", I(count), I(width)), launch("in_place", size, [16], "data", I(count), I(19))],
        [],
    )
