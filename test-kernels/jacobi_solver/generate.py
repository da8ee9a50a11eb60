"""Jacobi iterations in double: a row a group, a tree in local memory, vectors change places between launches"""

import numpy as np

from bounds import U64, E, stack, tree, zeros
from cases import I, inp, launch, out


def make(r):
    n = 41
    a, b = r.uniform(-1, 1, (n, n)), r.uniform(-1, 1, n)
    a[np.arange(n), np.arange(n)] += n / 2
    x = zeros(n, u=U64)
    rounds = []
    for _ in range(4):
        new = []
        for row in range(n):
            parts = zeros(16, u=U64)
            for first in range(0, n, 16):
                for t in range(min(16, n - first)):
                    if first + t != row:
                        parts[t] = parts[t] + E(a[row, first + t], u=U64) * x[first + t]
            new.append((E(b[row], u=U64) - tree(parts)) / E(a[row, row], u=U64))
        x = stack(new)
        rounds.append(x)
    launches = [launch("sweep", [16 * n], [16], "a", "b", *pair, I(n)) for pair in [("x", "y"), ("y", "x")] * 2]
    return {"a": inp(a), "b": inp(b), "x": out(rounds[3]), "y": out(rounds[2])}, launches, []
