"""Forward substitution: one unknown at a time in one work-group, local memory."""

import numpy as np

from bounds import U64, E, zeros
from cases import I, L, inp, launch, out

AFTER = "PolyBench trisolv"


def make(r):
    n = 47
    l = np.tril(r.uniform(-1, 1, (n, n))) / 8
    l[np.arange(n), np.arange(n)] = r.uniform(1, 2, n)
    b = r.uniform(-1, 1, n)
    s, x = E(b, u=U64), zeros(n, u=U64)
    for k in range(n):
        x[k] = s[k] / l[k, k]
        s = s - E(l[:, k], u=U64) * x[k]
    return {"l": inp(l), "b": inp(b), "x": out(x)}, [launch("trisolv", [50], [50], "l", "b", "x", L(8), I(n))], []
