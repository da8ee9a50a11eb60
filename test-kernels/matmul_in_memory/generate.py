"""A product whose sums are updated in memory by the inner loop, in CUDA's ids; 35 rows and columns in groups of 16 x 4"""

from bounds import E
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "PolyBench gemm"


def make(r):
    n = 35
    a, b, c0 = f32(r, n, n), f32(r, n, n), f32(r, n, n)
    alpha, beta = nearest(0.6), nearest(1.2)
    c = E(c0) * E(beta["f32"])
    for k in range(n):
        c = c + E(alpha["f32"]) * E(a[:, k : k + 1]) * E(b[k : k + 1])
    size = [ceil(n, 16), ceil(n, 4)]
    return {"a": inp(a), "b": inp(b), "c": out(c, init=c0)}, [launch("matmul", size, [16, 4], "a", "b", "c", alpha, beta, I(n))], []
