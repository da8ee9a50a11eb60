"""A product by tiles in local memory with CUDA's block and thread ids, 33 x 17 by 17 x 29, edges tested"""

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    m, n, k, tile = 33, 29, 17, 8
    a, b = f32(r, m, k), f32(r, k, n)
    c = zeros(m, n)
    for i in range(k):
        c = c + E(a[:, i : i + 1]) * E(b[i : i + 1])
    size = [ceil(n, tile), ceil(m, tile)]
    return {"c": out(c), "a": inp(a), "b": inp(b)}, [launch("matmul", size, [tile, tile], "c", "a", "b", I(m), I(n), I(k))], []
