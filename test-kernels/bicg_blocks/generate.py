"""A matrix by columns and by rows, sums in memory, in CUDA's ids; 67 x 39"""

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "PolyBench bicg"


def make(r):
    m, n = 67, 39
    a, p, v = f32(r, m, n), f32(r, n), f32(r, m)
    s, q = zeros(n), zeros(m)
    for i in range(m):
        s = s + E(v[i]) * E(a[i])
    for j in range(n):
        q = q + E(a[:, j]) * E(p[j])
    return (
        {"a": inp(a), "r": inp(v), "p": inp(p), "s": out(s), "q": out(q)},
        [launch("s_of", [ceil(n, 32)], [32], "a", "r", "s", I(m), I(n)), launch("q_of", [ceil(m, 32)], [32], "a", "p", "q", I(m), I(n))],
        [],
    )
