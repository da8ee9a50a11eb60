"""A triangle of a symmetric update; lanes beyond the diagonal leave."""

import numpy as np

from bounds import E
from cases import F, I, f32, inp, launch, out

AFTER = "PolyBench syrk, syr2k"


def make(r):
    n, m = 33, 14
    a, b, c = f32(r, n, m), f32(r, n, m), f32(r, n, n)
    z = E(c) * 0.5
    for k in range(m):
        A, B = E(a[:, k]), E(b[:, k])
        z = z + (A[:, None] * 1.25 * B[None, :] + B[:, None] * 1.25 * A[None, :])
    upper = np.triu(np.ones((n, n), bool), 1)
    z.v[upper], z.e[upper] = c[upper], 0
    return (
        {"a": inp(a), "b": inp(b), "c": out(z, init=c)},
        [launch("syr2k", [36, 36], [12, 4], "a", "b", "c", F(1.25), F(0.5), I(n), I(m))],
        [],
    )
