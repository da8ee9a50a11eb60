"""Nested divergent loops with breaks, continues, goto, return."""

import numpy as np

from cases import I, given, launch

SEED = 5


def make(r):
    a = r.integers(0, 256, 256).astype(np.int32)
    n, m, count = 200, 30, 199
    out = np.zeros(count, np.int32)
    for g in range(count):
        acc, result, i = 0, None, 0
        while i < n:
            v = int(a[(g * 7 + i) & 255])
            if v & 1:
                if v > 200:
                    break
                if v < 20:
                    i += 1
                    continue
                acc += i
                for j in range(m):
                    if a[(v + j) & 255] == j:
                        acc += 100
                        break
                    if a[(acc + j) & 255] > 250:
                        break
                    acc ^= j
            elif v & 2:
                acc += 3 * i
                if acc > 5000:
                    result = -acc
                    break
            acc += 1
            i += 1
        out[g] = acc if result is None else result
    return (
        {"a": given(a), "o": given(np.zeros(count, np.int32), out)},
        [launch("k", [count], [33], "a", "o", I(n), I(m), partial=True)],
        [],
    )
