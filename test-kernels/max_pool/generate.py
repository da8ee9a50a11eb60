"""Pooling with overlapping windows, and its gradient by gathering; odd sizes, planes by group"""

import numpy as np

from cases import I, ceil, f32, inp, launch, out

AFTER = "machine learning layers"


def make(r):
    planes, h, w = 3, 15, 21
    to_h, to_w = (h - 2) // 2 + 1, (w - 2) // 2 + 1
    x = f32(r, planes, h, w)
    best, where = np.zeros((planes, to_h, to_w), np.float32), np.zeros((planes, to_h, to_w), np.int32)
    grad = r.integers(-50, 50, best.shape).astype(np.int32)
    to = np.zeros(x.shape, np.int32)
    for p in range(planes):
        for j in range(to_h):
            for i in range(to_w):
                part = x[p, 2 * j : 2 * j + 3, 2 * i : 2 * i + 3]
                a, b = np.unravel_index(part.argmax(), part.shape)
                best[p, j, i], where[p, j, i] = part[a, b], (2 * j + a) * w + 2 * i + b
                to[p, 2 * j + a, 2 * i + b] += grad[p, j, i]
    return (
        {"in": inp(x), "out": out(best), "where": out(where), "grad": inp(grad), "to": out(to)},
        [
            launch("pool", [ceil(to_w, 8), ceil(to_h, 4), planes], [8, 4, 1], "in", "out", "where", I(w), I(h), I(to_w), I(to_h)),
            launch("back", [ceil(w, 8), ceil(h, 4), planes], [8, 4, 1], "grad", "where", "to", I(w), I(h), I(to_w), I(to_h)),
        ],
        [],
    )
