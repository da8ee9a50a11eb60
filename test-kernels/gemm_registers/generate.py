"""A product with 4 x 4 sums a work-item in registers"""

from bounds import E, zeros
from cases import I, f32, inp, launch, out


def make(r):
    m, n, k = 28, 44, 19
    a, b = f32(r, k, m), f32(r, k, n)
    c = zeros(m, n)
    for p in range(k):
        c = c + E(a[p][:, None]) * E(b[p][None])
    return {"a": inp(a), "b": inp(b), "c": out(c)}, [launch("gemm", [12, 8], [4, 4], "a", "b", "c", I(m), I(n), I(k))], []
