"""A symmetric product where a work-item walks two rows, and writes both halves"""

import numpy as np

from bounds import E, where
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "PolyBench syrk"


def make(r):
    n, m = 37, 29
    a, c0 = f32(r, n, m), f32(r, n, n)
    c0 = np.tril(c0) + np.tril(c0, -1).T
    alpha, beta = nearest(1.1), nearest(0.9)
    c = E(c0) * E(beta["f32"])
    for k in range(m):
        c = c + E(alpha["f32"]) * E(a[:, k : k + 1]) * E(a[:, k : k + 1].T)
    size = [ceil(n, 16), ceil(n, 4)]
    lower = np.tril(np.ones((n, n), bool))
    c = where(lower, c, c.T)
    return {"a": inp(a), "c": out(c, init=c0)}, [launch("rank_k", size, [16, 4], "a", "c", alpha, beta, I(n), I(m))], []
