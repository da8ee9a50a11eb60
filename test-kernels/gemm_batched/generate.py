"""Many small products: 4 x 4 in float4 a work-item, 3 x 3 in double by nine work-items"""

import numpy as np

from bounds import U64, E
from cases import I, ceil, f32, inp, launch, out


def product(a, b, size):
    c = a[:, :, 0:1] * b[:, 0:1]
    for k in range(1, size):
        c = c + a[:, :, k : k + 1] * b[:, k : k + 1]
    return c


def make(r):
    n, m = 75, 51
    a, b = f32(r, n, 4, 4), f32(r, n, 4, 4)
    p, q = r.uniform(-1, 1, (m, 3, 3)), r.uniform(-1, 1, (m, 3, 3))
    return (
        {
            "a": inp(a),
            "b": inp(b),
            "c": out(product(E(a), E(b), 4)),
            "p": inp(p),
            "q": inp(q),
            "s": out(product(E(p, u=U64), E(q, u=U64), 3)),
        },
        [launch("gemm4", [ceil(n, 20)], [20], "a", "b", "c", I(n)), launch("gemm3", [ceil(9 * m, 64)], [64], "p", "q", "s", I(m))],
        [],
    )
