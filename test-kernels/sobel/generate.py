"""Sobel gradients of a byte image, four pixels a work-item, saturated; their direction."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    w, h = 48, 21
    image = r.integers(0, 256, (h, w)).astype(np.uint8)
    image[:, :20] //= 8
    p = np.pad(image.astype(int), 1, mode="edge")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    mag = np.clip(np.abs(gx) + np.abs(gy), 0, 255).astype(np.uint8)
    direction = ((gx < 0) * 4 + (gy < 0) * 2 + (np.abs(gy) > np.abs(gx))).astype(np.int8)
    return (
        {"in": inp(image), "magnitude": out(mag), "direction": out(direction)},
        [launch("sobel", [w // 4, h], [12, 7], "in", "magnitude", "direction", I(w), I(h))],
        [],
    )
