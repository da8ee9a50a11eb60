"""Edges of an image: gradients by sector, thinning, hysteresis in two steps; clamped coordinates, 41 x 29"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, low, high = 41, 29, 90, 480
    y, x = np.mgrid[0:h, 0:w]
    img = (((x - 18) ** 2 + (y - 14) ** 2 < 90) * 120 + (x + y > 45) * 60 + r.integers(0, 30, (h, w))).astype(np.uint8)
    p = np.pad(img.astype(int), 1, mode="edge")
    s = lambda j, i: p[j : j + h, i : i + w]
    gx = s(0, 2) - s(0, 0) + 2 * (s(1, 2) - s(1, 0)) + s(2, 2) - s(2, 0)
    gy = s(2, 0) - s(0, 0) + 2 * (s(2, 1) - s(0, 1)) + s(2, 2) - s(0, 2)
    strength = abs(gx) + abs(gy)
    sector = np.where(5 * abs(gy) < 2 * abs(gx), 0, np.where(5 * abs(gx) < 2 * abs(gy), 2, np.where((gx ^ gy) < 0, 3, 1)))
    edge = np.zeros((h, w), np.uint8)
    for j in range(1, h - 1):
        for i in range(1, w - 1):
            dx, dy = [(1, 0), (1, 1), (0, 1), (1, -1)][sector[j, i]]
            v = strength[j, i]
            if v > strength[j + dy, i + dx] and v >= strength[j - dy, i - dx] and v >= low:
                edge[j, i] = 1 if v < high else 2
    steps = [edge]
    for _ in range(2):
        q = np.pad(steps[-1], 1)
        near = np.max([q[j : j + h, i : i + w] for j in range(3) for i in range(3)], 0)
        steps.append(np.where((steps[-1] == 1) & (near == 2), 2, steps[-1]).astype(np.uint8))
    assert (steps[2] != steps[1]).any()
    size = [ceil(w, 16), ceil(h, 4)]
    run = lambda name, *a: launch(name, size, [16, 4], *a)
    return (
        {
            "in": inp(img),
            "strength": out(strength.astype(np.uint16)),
            "sector": out(sector.astype(np.uint8)),
            "edge": out(steps[2]),
            "grown": out(steps[1]),
        },
        [
            run("gradient", "in", "strength", "sector", I(w), I(h)),
            run("thin", "strength", "sector", "edge", I(w), I(h), I(low), I(high)),
            run("grow", "edge", "grown", I(w), I(h)),
            run("grow", "grown", "edge", I(w), I(h)),
        ],
        [],
    )
