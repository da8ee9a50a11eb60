"""Vectors with hand-made ids of CUDA: one element a work-item, a grid-stride loop, a reversal; 1000 elements"""

from bounds import E
from cases import I, ceil, f32, inp, launch, nearest, out


def make(r):
    n, block = 1000, 96
    x, y = f32(r, n), f32(r, n)
    a, b = nearest(0.7), nearest(-1.3)
    grid = [ceil(n, block)]
    return (
        {"x": inp(x), "y": out(E(a["f32"]) * E(x) + E(y), init=y), "z": out(E(x) * E(a["f32"]) + E(b["f32"])), "w": out(x[::-1])},
        [
            launch("axpy", grid, [block], I(n), a, "x", "y"),
            launch("affine", [3 * block], [block], I(n), a, b, "x", "z"),
            launch("reversed", grid, [block], I(n), "x", "w"),
        ],
        [],
    )
