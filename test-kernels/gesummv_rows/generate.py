"""Two matrices by rows, walked by one work-item side by side"""

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "PolyBench gesummv"


def make(r):
    n, m = 75, 39
    a, b, x = f32(r, n, m), f32(r, n, m), f32(r, m)
    alpha, beta = nearest(0.7), nearest(-1.3)
    s, t = zeros(n), zeros(n)
    for j in range(m):
        s = s + E(a[:, j]) * E(x[j])
        t = t + E(b[:, j]) * E(x[j])
    y = E(alpha["f32"]) * s + E(beta["f32"]) * t
    return (
        {"a": inp(a), "b": inp(b), "x": inp(x), "y": out(y)},
        [launch("gesummv", [ceil(n, 32)], [32], "a", "b", "x", "y", alpha, beta, I(n), I(m))],
        [],
    )
