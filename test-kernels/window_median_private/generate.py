"""A rank filter of three dimensions: the window in a private array with computed indices, searched and sorted"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, d, radius, rank = 19, 9, 4, 1, 8
    img = r.integers(0, 60000, (d, h, w)).astype(np.uint16)
    best, count = np.zeros_like(img), np.zeros(img.shape, np.uint8)
    for z in range(d):
        for y in range(h):
            for x in range(w):
                part = img[max(z - 1, 0) : z + 2, max(y - radius, 0) : y + radius + 1, max(x - radius, 0) : x + radius + 1]
                values = np.sort(part.ravel())
                best[z, y, x] = values[min(rank, values.size - 1)]
                count[z, y, x] = values.size
    sizes = map(I, (w, h, d, radius, rank))
    return (
        {"in": inp(img), "out": out(best), "place": out(count)},
        [launch("rank", [ceil(w, 8), ceil(h, 4), d], [8, 4, 1], "in", "out", "place", *sizes)],
        [],
    )
