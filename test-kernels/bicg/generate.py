"""A·p and its transpose times r in one launch, by group; double precision."""

from bounds import U64, E, zeros
from cases import I, inp, launch, out

AFTER = "PolyBench bicg, mvt"


def make(r):
    m, n = 39, 50
    a, p, q = r.standard_normal((m, n)), r.standard_normal(n), r.standard_normal(m)
    y, s = zeros(m, u=U64), zeros(n, u=U64)
    for k in range(n):
        y = y + E(a[:, k], u=U64) * E(p[k], u=U64)
    for k in range(m):
        s = s + E(a[k], u=U64) * E(q[k], u=U64)
    return (
        {"a": inp(a), "p": inp(p), "r": inp(q), "q": out(y), "s": out(s)},
        [launch("bicg", [104], [52], "a", "p", "r", "q", "s", I(m), I(n))],
        [],
    )
