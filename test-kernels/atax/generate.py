"""A matrix read along rows, then along columns."""

from bounds import E, zeros
from cases import I, f32, inp, launch, out

AFTER = "PolyBench atax"


def make(r):
    m, n = 45, 61
    a, x = f32(r, m, n), f32(r, n)
    t, y = zeros(m), zeros(n)
    for k in range(n):
        t = t + E(a[:, k]) * E(x[k])
    for k in range(m):
        y = y + E(a[k]) * t[k]
    return (
        {"a": inp(a), "x": inp(x), "t": out(t), "y": out(y)},
        [launch("ax", [48], [24], "a", "x", "t", I(m), I(n)), launch("aty", [72], [24], "a", "t", "y", I(m), I(n))],
        [],
    )
