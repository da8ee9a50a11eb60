"""A matrix with two outer products added, then used transposed and as it is; sums in memory"""

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "PolyBench gemver"


def make(r):
    n = 49
    a0, alpha, beta = f32(r, n, n), nearest(0.4), nearest(0.3)
    u1, v1, u2, v2, y, z = (f32(r, n) for _ in range(6))
    a = E(a0) + (E(u1[:, None]) * E(v1[None]) + E(u2[:, None]) * E(v2[None]))
    x = zeros(n)
    for j in range(n):
        x = x + E(beta["f32"]) * a[j] * E(y[j])
    x = x + E(z)
    w = zeros(n)
    for j in range(n):
        w = w + E(alpha["f32"]) * a[:, j] * x[j]
    square, line = [ceil(n, 8), ceil(n, 8)], [ceil(n, 24)]
    vectors = {"u1": u1, "v1": v1, "u2": u2, "v2": v2, "y": y, "z": z}
    return (
        {"a": out(a, init=a0), "x": out(x), "w": out(w), **{k: inp(v) for k, v in vectors.items()}},
        [
            launch("update", square, [8, 8], "a", "u1", "v1", "u2", "v2", I(n)),
            launch("transposed", line, [24], "a", "y", "z", "x", beta, I(n)),
            launch("product", line, [24], "a", "x", "w", alpha, I(n)),
        ],
        [],
    )
