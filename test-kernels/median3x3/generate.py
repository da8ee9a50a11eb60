"""Median of 3x3 by a network of minima and maxima on uchar4, rows loaded from a local tile."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    w, h = 37, 26
    image = r.integers(0, 256, (h, w, 4)).astype(np.uint8)
    p = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    m = np.median(np.stack([p[i : i + h, j : j + w] for i in range(3) for j in range(3)]), axis=0).astype(np.uint8)
    return {"in": inp(image), "out": out(m)}, [launch("median", [40, 28], [10, 4], "in", "out", I(w), I(h))], []
