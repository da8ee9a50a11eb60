"""Sparse rows shared by eight work-items each, local memory for their sums"""

import numpy as np

from bounds import E, tree, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "sparse suites"


def make(r):
    n, m, lanes = 83, 110, 8
    length = r.integers(0, 30, n)
    rows = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    columns, values, x = r.integers(0, m, rows[-1]).astype(np.int32), f32(r, rows[-1]), f32(r, m)
    y = zeros(n)
    for row in range(n):
        part = zeros(lanes)
        for k in range(rows[row], rows[row + 1]):
            lane = (k - rows[row]) % lanes
            part[lane] = part[lane] + E(values[k]) * E(x[columns[k]])
        y[row] = tree(part)
    return (
        {"rows": inp(rows), "columns": inp(columns), "values": inp(values), "x": inp(x), "y": out(y)},
        [launch("spmv", [ceil(n * lanes, 48)], [48], "rows", "columns", "values", "x", "y", I(n))],
        [],
    )
