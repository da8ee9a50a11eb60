"""A sparse matrix's pattern transposed: counts by atomics, a serial scan, a scatter, rows put in order by insertion"""

import numpy as np

from cases import I, ceil, inp, launch, out, tmp

AFTER = "sparse suites"


def make(r):
    n, m = 77, 53
    rows = np.concatenate([[0], np.cumsum(r.integers(0, 12, n))]).astype(np.int32)
    nnz = int(rows[-1])
    columns = r.integers(0, m, nnz).astype(np.int32)
    owner = np.repeat(np.arange(n), np.diff(rows)).astype(np.int32)
    counts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=m))]).astype(np.int32)
    by_column = owner[np.lexsort((owner, columns))]
    return (
        {"rows": inp(rows), "columns": inp(columns), "counts": out(counts), "at": tmp("int32", m), "to": out(by_column)},
        [
            launch("count", [ceil(nnz, 60)], [60], "columns", "counts", I(nnz)),
            launch("starts", [1], [1], "counts", "at", I(m)),
            launch("scatter", [ceil(n, 20)], [20], "rows", "columns", "at", "to", I(n)),
            launch("order", [ceil(m, 20)], [20], "counts", "to", I(m)),
        ],
        [],
    )
