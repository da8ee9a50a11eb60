"""Sparse rows of different length, indirect loads, double precision."""

import numpy as np

from cases import I, given, launch

SEED = 12


def make(r):
    n = 201
    lengths = r.integers(0, 23, n)
    rows = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = r.integers(0, n, rows[-1]).astype(np.int32)
    values = r.standard_normal(rows[-1])
    x = r.standard_normal(n)
    y = np.array([values[rows[i] : rows[i + 1]] @ x[columns[rows[i] : rows[i + 1]]] for i in range(n)])
    return (
        {
            "rows": given(rows),
            "columns": given(columns),
            "values": given(values),
            "x": given(x),
            "y": given(np.zeros(n), y, 1e-12, 1e-12),
        },
        [launch("spmv", [256], [64], "rows", "columns", "values", "x", "y", I(n))],
        [],
    )
