"""A sparse matrix by coordinates: an atomic an entry, and an atomic a run of a row; integers"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "sparse suites"


def make(r):
    n, m, count, piece = 90, 70, 700, 11
    row, column = np.sort(r.integers(0, n, count)).astype(np.int32), r.integers(0, m, count).astype(np.int32)
    value, x = r.integers(-99, 99, count).astype(np.int32), r.integers(-99, 99, m).astype(np.int32)
    y = np.zeros(n, np.int32)
    np.add.at(y, row, value * x[column])
    return (
        {"row": inp(row), "column": inp(column), "value": inp(value), "x": inp(x), "y": out(y), "z": out(y)},
        [
            launch("spmv", [ceil(count, 64)], [64], "row", "column", "value", "x", "y", I(count)),
            launch("pieces", [ceil(count, 32 * piece) // piece], [32], "row", "column", "value", "x", "z", I(count), I(piece)),
        ],
        [],
    )
