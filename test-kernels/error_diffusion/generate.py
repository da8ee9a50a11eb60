"""Dithering by diffusion of errors: rows three pixels apart in one group, a barrier a step"""

import numpy as np

from cases import I, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h = 43, 30
    img = (np.mgrid[0:h, 0:w][1] * 5 + r.integers(0, 20, (h, w))).astype(np.uint8)
    error, result = np.zeros((h + 1, w + 2), int), np.zeros((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            v = int(img[y, x]) + ((error[y, x + 1] + 8) >> 4)
            bit = v >= 128
            e = v - 255 * bit
            result[y, x] = 255 * bit
            error[y, x + 2] += 7 * e
            error[y + 1, x : x + 3] += [3 * e, 5 * e, e]
    return {"in": inp(img), "out": out(result)}, [launch("dither", [h], [h], "in", "out", I(w), I(h))], []
