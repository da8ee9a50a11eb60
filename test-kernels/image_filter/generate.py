"""Uchar4 and char16, conversions with saturation."""

import numpy as np

from cases import I, given, launch

SEED = 19


def make(r):
    w, h = 50, 37
    img = r.integers(0, 256, (h, w, 4)).astype(np.uint8)
    p = np.pad(img.astype(np.int64), ((1, 1), (1, 1), (0, 0)), mode="edge")
    sharp = 5 * p[1:-1, 1:-1] - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]
    out = np.clip(sharp, 0, 255).astype(np.uint8)
    out[..., 3] = img[..., 3]
    c = r.integers(-128, 128, (64, 16)).astype(np.int8)
    d = np.clip(c.astype(np.int64) + c[::-1].astype(np.int64), -128, 127)
    return (
        {
            "img": given(img),
            "out": given(np.zeros_like(img), out),
            "c": given(c),
            "d": given(np.zeros_like(c), d.astype(np.int8)),
        },
        [launch("sharpen", [60, 40], [20, 4], "img", "out", I(w), I(h)), launch("saturate", [64], [64], "c", "d", I(64))],
        [],
    )
