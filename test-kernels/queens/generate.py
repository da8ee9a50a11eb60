"""Placing queens: backtracking with a stack in private memory, very uneven work."""

import numpy as np

from cases import I, launch, out

AFTER = "vendor samples"


def make(r):
    n = 7
    total = np.zeros((n, n), np.int32)

    def place(row, cols, d1, d2):
        if row == n:
            return 1
        return sum(
            place(row + 1, cols | 1 << c, d1 | 1 << (row + c), d2 | 1 << (row - c + n))
            for c in range(n)
            if not (cols >> c & 1 or d1 >> (row + c) & 1 or d2 >> (row - c + n) & 1)
        )

    for a in range(n):
        for b in range(n):
            if abs(a - b) > 1:
                total[a, b] = place(2, 1 << a | 1 << b, 1 << a | 1 << (1 + b), 1 << (n - a) | 1 << (1 - b + n))
    assert total.sum() == 40
    return {"solutions": out(total)}, [launch("queens", [n, n], [n, 1], "solutions", I(n))], []
