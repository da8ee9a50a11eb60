"""A window of any size with bounds checks on signed coordinates, its weights loaded for all lanes, some of them zero"""

import numpy as np

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, pitch, rx, ry = 37, 13, 40, 5, 1
    img, k = f32(r, h, pitch), f32(r, 2 * ry + 1, 2 * rx + 1)
    k[r.random(k.shape) < 0.3] = 0
    p = np.pad(img[:, :w], ((ry, ry), (rx, rx)))
    y = zeros(h, w)
    for j in range(2 * ry + 1):
        for i in range(2 * rx + 1):
            y = y + E(k[j, i]) * E(p[j : j + h, i : i + w])
    whole = zeros(h, pitch)
    whole[:, :w] = y
    return (
        {"in": inp(img), "weight": inp(k), "out": out(whole)},
        [launch("correlate", [ceil(w, 16), ceil(h, 4)], [16, 4], "in", "weight", "out", *map(I, (w, h, pitch, rx, ry)))],
        [],
    )
