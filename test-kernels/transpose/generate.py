"""Tile in local memory with padding, both edges guarded."""

from cases import I, ceil, f32, inp, launch, out


def make(r):
    w, h = 70, 45
    a = f32(r, h, w)
    return (
        {"in": inp(a), "result": out(a.T)},
        [launch("transpose", [ceil(w, 16), ceil(h, 16) // 4], [16, 4], "in", "result", I(w), I(h))],
        [],
    )
