"""A matrix that streams, a vector that every work-item reads."""

from bounds import E, zeros
from cases import I, f32, inp, launch, out

AFTER = "PolyBench, vendor samples"


def make(r):
    rows, cols = 149, 53
    a, x = f32(r, cols, rows), f32(r, cols)
    y = zeros(rows)
    for k in range(cols):
        y = y + E(a[k]) * E(x[k])
    return {"a": inp(a), "x": inp(x), "y": out(y)}, [launch("matvec", [160], [40], "a", "x", "y", I(rows), I(cols))], []
