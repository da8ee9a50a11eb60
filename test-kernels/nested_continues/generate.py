"""Loops inside one another with their only way out behind a `continue`."""

import numpy as np

from cases import I, given, launch

SEED = 12


def sum_and_rounds(g, n):
    total, rounds, i, j = 0, 0, 0, g & 7
    while True:
        rounds += 2
        kind = (j + i) % 5
        counted = False
        if kind == 0:
            total += i
            i += 1
            continue
        if kind == 3:
            k = 0
            while True:
                total += k
                if ((j ^ k) & 3) == 1 and k < 40:
                    k += 1
                    continue
                if k > j:
                    counted = True
                    break
                total ^= k << 3
                if k * 3 > i:
                    break
                k += 1
        if not counted and i & 1 and i < n:
            i += 1
            continue
        j = (j * 5 + total) & 15
        if i > 20 + (g & 31):
            return total, rounds
        i += 1


def make(r):
    n, count = 1000, 150
    out = np.array([sum_and_rounds(g, n) for g in range(count)], np.int64)
    assert abs(out).max() < 2**31
    return (
        {"o": given(np.zeros(out.size, np.int32), out.astype(np.int32).ravel())},
        [launch("k", [count], [50], "o", I(n), partial=True)],
        [],
    )
