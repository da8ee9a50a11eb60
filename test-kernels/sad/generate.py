"""Sums of absolute differences of 4x4 blocks over a search window, uchar4 loads; the best motion vector."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "Parboil sad"


def make(r):
    w, h, reach = 32, 24, 3
    now = r.integers(0, 256, (h, w)).astype(np.uint8)
    before = np.roll(now, (1, -2), (0, 1))
    before = np.clip(before.astype(int) + r.integers(-3, 4, (h, w)), 0, 255).astype(np.uint8)
    p = np.pad(before, reach, mode="edge").astype(int)
    side = 2 * reach + 1
    sads = np.zeros((h // 4, w // 4, side * side), np.uint16)
    for by in range(h // 4):
        for bx in range(w // 4):
            block = now[4 * by : 4 * by + 4, 4 * bx : 4 * bx + 4].astype(int)
            for s in range(side * side):
                y, x = 4 * by + s // side, 4 * bx + s % side
                sads[by, bx, s] = np.abs(block - p[y : y + 4, x : x + 4]).sum()
    best = sads.argmin(2).astype(np.uint8)
    return (
        {"now": inp(now), "before": inp(before), "sads": out(sads), "best": out(best)},
        [launch("sad", [49 * (w // 4), h // 4], [49, 1], "now", "before", "sads", "best", I(w), I(h))],
        [],
    )
