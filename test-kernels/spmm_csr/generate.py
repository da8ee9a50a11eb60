"""A sparse matrix times 19 dense columns, 16-bit column numbers"""

import numpy as np

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "sparse suites"


def make(r):
    n, m, width = 61, 54, 19
    rows = np.concatenate([[0], np.cumsum(r.integers(0, 9, n))]).astype(np.int32)
    columns, values, b = r.integers(0, m, rows[-1]).astype(np.int16), f32(r, rows[-1]), f32(r, m, width)
    c = zeros(n, width)
    for i in range(n):
        for k in range(rows[i], rows[i + 1]):
            c[i] = c[i] + E(values[k]) * E(b[columns[k]])
    return (
        {"rows": inp(rows), "columns": inp(columns), "values": inp(values), "b": inp(b), "c": out(c)},
        [launch("spmm", [ceil(width, 8), ceil(n, 4)], [8, 4], "rows", "columns", "values", "b", "c", I(n), I(width))],
        [],
    )
