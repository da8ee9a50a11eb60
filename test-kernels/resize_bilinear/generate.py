"""Images made larger and smaller: bilinear in fixed point on uchar4, divisions by sizes that the launch gives"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def resize(img, to_w, to_h):
    h, w = img.shape[:2]

    def at(n, to):
        u = np.maximum((2 * np.arange(to) + 1) * n * 128 // to - 128, 0)
        i = np.minimum(u >> 8, n - 1)
        return i, np.minimum(i + 1, n - 1), u & 255

    (i, i1, p), (j, j1, q) = at(w, to_w), at(h, to_h)
    x, p, q = img.astype(np.int64), p[None, :, None], q[:, None, None]
    top = x[j][:, i] * (256 - p) + x[j][:, i1] * p
    low = x[j1][:, i] * (256 - p) + x[j1][:, i1] * p
    return ((top * (256 - q) + low * q + 32768) >> 16).astype(np.uint8)


def make(r):
    w, h = 29, 21
    img = r.integers(0, 256, (h, w, 4)).astype(np.uint8)
    sizes = [("large", 50, 33), ("small", 17, 10)]
    return (
        {"in": inp(img), **{k: out(resize(img, a, b)) for k, a, b in sizes}},
        [launch("resize", [ceil(a, 16), ceil(b, 4)], [16, 4], "in", k, I(w), I(h), I(a), I(b)) for k, a, b in sizes],
        [],
    )
