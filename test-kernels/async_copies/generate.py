"""Asynchronous copies to and from local memory, strided too, in a double-buffered loop."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    g, tiles, stride = 24, 5, 3
    x = r.integers(0, 1000, (2, tiles, g)).astype(np.int32)
    y = (x[..., ::-1] * 2 + x[..., :1]).astype(np.int32)
    picked = x.reshape(-1)[: 2 * g * stride].reshape(2, -1)[:, ::stride][:, :g].astype(np.int32)
    return (
        {"in": inp(x), "out": out(y), "picked": out(picked)},
        [launch("copy", [2 * g], [g], "in", "out", "picked", I(tiles), I(stride))],
        [],
    )
