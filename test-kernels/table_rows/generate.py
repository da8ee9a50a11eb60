"""Rows of a table gathered at streamed indices, scaled by streamed rows (an embedding layer)."""

import numpy as np

from cases import I, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    n, size = 331, 48
    table, idx, w = f32(r, size, 4), r.integers(0, size, n).astype(np.int32), f32(r, n, 4)
    return (
        {"table": inp(table), "idx": inp(idx), "w": inp(w), "out": out((table[idx].astype(np.float64) * w).astype(np.float32))},
        [launch("scaled_rows", [352], [32], "table", "idx", "w", "out", I(n))],
        [],
    )
