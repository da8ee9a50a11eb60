"""An integral image by rows and columns, and means of boxes from it; integer division"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, radius = 45, 33, 3
    img = r.integers(0, 256, (h, w)).astype(np.uint8)
    total = img.astype(np.uint32).cumsum(0).cumsum(1).astype(np.uint32)
    mean = np.zeros((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            box = img[max(y - radius, 0) : y + radius + 1, max(x - radius, 0) : x + radius + 1].astype(int)
            mean[y, x] = (box.sum() + box.size // 2) // box.size
    return (
        {"in": inp(img), "sum": out(total), "mean": out(mean)},
        [
            launch("rows", [ceil(h, 16)], [16], "in", "sum", I(w), I(h)),
            launch("columns", [ceil(w, 16)], [16], "sum", I(w), I(h)),
            launch("boxes", [ceil(w, 16), ceil(h, 8)], [16, 8], "sum", "mean", I(w), I(h), I(radius)),
        ],
        [],
    )
