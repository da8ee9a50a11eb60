"""Brightness and colour planes from packed pixels and back: uchar3, blocks of 2 x 2, saturation"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "codecs"


def make(r):
    w, h = 38, 26
    img = r.integers(0, 256, (h, w, 3)).astype(np.uint8)
    p = img.astype(np.int64)
    luma = (p @ [66, 129, 25] + 128 >> 8) + 16
    s = p[::2, ::2] + p[1::2, ::2] + p[::2, 1::2] + p[1::2, 1::2]
    blue, red = (s @ [-38, -74, 112] + 512 >> 10) + 128, (s @ [112, -94, -18] + 512 >> 10) + 128
    c, d, e = 298 * (luma - 16), blue.repeat(2, 0).repeat(2, 1) - 128, red.repeat(2, 0).repeat(2, 1) - 128
    back = np.stack([c + 409 * e + 128, c - 100 * d - 208 * e + 128, c + 516 * d + 128], -1) >> 8
    b = lambda x: np.clip(x, 0, 255).astype(np.uint8)
    return (
        {"rgb": inp(img), "luma": out(b(luma)), "blue": out(b(blue)), "red": out(b(red)), "back": out(b(back))},
        [
            launch("planes", [ceil(w // 2, 8), ceil(h // 2, 4)], [8, 4], "rgb", "luma", "blue", "red", I(w), I(h)),
            launch("packed", [ceil(w, 16), ceil(h, 4)], [16, 4], "luma", "blue", "red", "back", I(w), I(h)),
        ],
        [],
    )
