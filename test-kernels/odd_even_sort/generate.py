"""Odd-even transposition in local memory: a uniform loop that ends by data, a barrier in it, odd rows of shorts"""

import numpy as np

from cases import I, inp, launch, out

AFTER = "sorting suites"


def make(r):
    rows, n = 4, 27
    x = r.integers(0, 1 << 16, (rows, n)).astype(np.uint16)
    x[1] = np.sort(x[1])
    x[2, 5:] = np.sort(x[2, 5:])
    rounds = np.zeros(rows, np.int32)
    for k in range(rows):
        s = x[k].tolist()
        again = True
        while again:
            again = False
            for odd in (0, 1):
                for i in range(odd, n - 1, 2):
                    if s[i] > s[i + 1]:
                        s[i], s[i + 1], again = s[i + 1], s[i], True
            rounds[k] += 1
    group = (n + 1) // 2
    return {"keys": out(np.sort(x, 1), init=x), "rounds": out(rounds)}, [launch("sort", [rows * group], [group], "keys", "rounds", I(n))], []
