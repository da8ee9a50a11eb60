"""Rows and columns in place: each element is computed of those before it, which the same work-item has just written."""

import numpy as np

from cases import I, launch, out


def make(r):
    rows, stride, n = 77, 53, 51
    a = r.integers(-1000, 1000, (rows, stride)).astype(np.int32)
    sums = a.copy()
    for i in range(n - 1):
        sums[:, i + 1] += sums[:, i]
    b = r.integers(0, 2**32, (rows, stride), np.uint32)
    recurrence = b.copy()
    for i in range(2, n):
        recurrence[:, i] = 3 * recurrence[:, i - 1] - recurrence[:, i - 2] + 5 * recurrence[:, i]
    c = r.integers(0, 2**32, (rows, stride), np.uint32)
    by_bytes = c.copy()
    for i in range(1, n):
        by_bytes[:, i] = by_bytes[:, i] * np.uint32(0x9E3779B1) ^ by_bytes[:, i - 1] >> 24
    d = r.integers(-1000, 1000, (n, rows)).astype(np.int32)
    columns = d.copy()
    for y in range(n - 2):
        columns[y + 1] -= columns[y]
        columns[y + 2] ^= columns[y]
    buffers = {"a": out(sums, init=a), "b": out(recurrence, init=b), "c": out(by_bytes, init=c), "d": out(columns, init=d)}
    return (
        buffers,
        [
            launch("sums", [rows], [11], "a", I(stride), I(n)),
            launch("recurrence", [rows], [77], "b", I(stride), I(n)),
            launch("bytes", [rows], [7], "c", I(stride), I(n)),
            launch("columns", [rows], [11], "d", I(rows), I(n)),
        ],
        [],
    )
