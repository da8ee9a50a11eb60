"""Erosion and dilation by an ellipsoid with clamped edges: positions and sizes as int4, a uniform test in the window"""

import numpy as np

from cases import ceil, data, inp, launch, out

AFTER = "image suites"


def make(r):
    size, radius = (21, 10, 5), (3, 2, 1)
    w, h, d = size
    img = r.integers(0, 256, (d, h, w)).astype(np.uint8)
    p = np.pad(img, [(n, n) for n in radius[::-1]], mode="edge")
    inside = []
    for z in range(2 * radius[2] + 1):
        for y in range(2 * radius[1] + 1):
            for x in range(2 * radius[0] + 1):
                at = sum((c - n) ** 2 / (n * n + 1) for c, n in zip((x, y, z), radius))
                assert abs(at - 1) > 1e-3  # floats decide alike
                if at < 1:
                    inside.append(p[z : z + d, y : y + h, x : x + w])
    four = lambda v: data("4i", *v, 1)
    return (
        {"in": inp(img), "low": out(np.min(inside, 0)), "high": out(np.max(inside, 0))},
        [launch("sphere", [ceil(w, 8), ceil(h, 4), d], [8, 4, 1], "in", "low", "high", four(size), four(radius))],
        [],
    )
