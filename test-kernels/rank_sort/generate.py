"""Sorting by counting what stands before: all pairs by tiles in local memory, ties in order"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "sorting suites"


def make(r):
    n = 231
    keys = (r.integers(-60, 60, n) / 4).astype(np.float32)
    order = np.argsort(keys, kind="stable").astype(np.int32)
    return (
        {"keys": inp(keys), "sorted": out(keys[order]), "order": out(order)},
        [launch("rank", [ceil(n, 32)], [32], "keys", "sorted", "order", I(n))],
        [],
    )
