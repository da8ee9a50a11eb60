"""Points in polygons by crossings: 64-bit products, corners through local memory in a loop with barriers"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "computational geometry"


def make(r):
    count, polygons, size = 130, 6, 1 << 20
    points = r.integers(0, size, (count, 2)).astype(np.int32)
    sides = r.integers(3, 30, polygons)
    start = np.concatenate([[0], np.cumsum(sides)]).astype(np.int32)
    shapes = []
    for n in sides:
        a, d = np.sort(r.uniform(0, 2 * np.pi, n)), r.uniform(0.2, 0.5, n)
        shapes.append(np.round(size * (0.5 + d[:, None] * np.stack([np.cos(a), np.sin(a)], 1))).astype(np.int32))
    mask = []
    for x, y in points.tolist():
        bits = 0
        for g, shape in enumerate(shapes):
            s, on = shape.tolist(), False
            for (ax, ay), (bx, by) in zip(s[-1:] + s[:-1], s):
                if (ay > y) != (by > y):
                    side = (bx - ax) * (y - ay) - (x - ax) * (by - ay)
                    on ^= side > 0 if by > ay else side < 0
            bits |= on << g
        mask.append(bits)
    return (
        {"points": inp(points), "corners": inp(np.concatenate(shapes)), "start": inp(start), "mask": out(np.array(mask, np.uint32))},
        [launch("inside", [ceil(count, 32)], [32], "points", "corners", "start", "mask", I(count), I(polygons))],
        [],
    )
