"""Longest common subsequence: a launch an antidiagonal over a table of shorts"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "dynamic programming suites"


def make(r):
    m, n, block = 23, 31, 12
    a, b = r.integers(0, 4, m).astype(np.uint8), r.integers(0, 4, n).astype(np.uint8)
    t = np.zeros((m + 1, n + 1), np.int16)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            t[i, j] = max(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1] + (a[i - 1] == b[j - 1]))
    launches = []
    for d in range(2, m + n + 1):
        cells = min(m, d - 1) - max(1, d - n) + 1
        launches.append(launch("diagonal", [ceil(cells, block)], [block], "a", "b", "table", I(m), I(n), I(d)))
    return {"a": inp(a), "b": inp(b), "table": out(t)}, launches, []
