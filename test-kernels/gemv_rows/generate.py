"""A matrix times a vector, each work-item along its own rows: neighbours share no cache line, and the last work-item has fewer rows"""

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "PolyBench gesummv, atax"


def make(r):
    m, n = 101, 47
    a, x, y0 = f32(r, m, n), f32(r, n), f32(r, m)
    alpha, beta = nearest(1.5), nearest(-0.8)
    s = zeros(m)
    for j in range(n):
        s = s + E(a[:, j]) * E(x[j])
    return (
        {"a": inp(a), "x": inp(x), "y": out(E(alpha["f32"]) * s + E(beta["f32"]) * E(y0), init=y0), "z": out(s)},
        [
            launch("rows", [ceil(m, 32)], [32], "a", "x", "y", alpha, beta, I(m), I(n)),
            launch("four_rows", [32], [16], "a", "x", "z", I(m), I(n)),
        ],
        [],
    )
