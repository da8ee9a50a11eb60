"""A picture turned through a sampler: integer image reads by computed coordinates, a border, image writes"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, to_w, to_h = 27, 21, 33, 18
    img = r.integers(0, 256, (h, w, 4)).astype(np.uint8)
    a, b, c, d, e, f = 900, -350, 400, 880, 2000, -3000
    y, x = np.mgrid[0:to_h, 0:to_w]
    u, v = (a * x + b * y + e) >> 10, (c * x + d * y + f) >> 10
    inside = (u >= 0) & (v >= 0) & (u < w) & (v < h)
    got = np.where(inside[..., None], img[np.clip(v, 0, h - 1), np.clip(u, 0, w - 1)], 0)
    assert 0.1 < inside.mean() < 0.95
    want = np.stack([got[..., 2], got[..., 1], got[..., 0], got[..., 3] // 2], -1).astype(np.uint8)
    size = lambda i, j: {"image": {"width": i, "height": j, "format": "RGBA_UINT8"}}
    return (
        {"in": {**inp(img), **size(w, h)}, "out": {**out(want), **size(to_w, to_h)}},
        [launch("warp", [ceil(to_w, 8), ceil(to_h, 4)], [8, 4], "in", "out", {"i32": [a, b, c, d]}, {"i32": [e, f]})],
        [],
    )
