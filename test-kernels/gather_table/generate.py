"""A table gathered at streamed indices."""

import numpy as np

from cases import I, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    n, size = 777, 96
    table, idx, w = f32(r, size), r.integers(0, size, n).astype(np.int32), f32(r, n)
    return (
        {"table": inp(table), "idx": inp(idx), "w": inp(w), "out": out((table[idx].astype(np.float64) * w).astype(np.float32))},
        [launch("gather", [800], [80], "table", "idx", "w", "out", I(n))],
        [],
    )
