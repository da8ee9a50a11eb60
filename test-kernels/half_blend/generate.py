"""Blending in half precision, and pictures made smaller through float: half4, packed loads, rounding stores"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    n, w, h = 150, 38, 22
    a, b = (r.uniform(-4, 4, (n, 4)).astype(np.float16) for _ in range(2))
    t = r.random(n).astype(np.float16)
    x = r.uniform(-9, 9, (h, w)).astype(np.float16)
    f = x.astype(np.float32)
    small = (f[::2, ::2] + f[::2, 1::2] + (f[1::2, ::2] + f[1::2, 1::2])) * np.float32(0.25)
    return (
        {
            "a": inp(a),
            "b": inp(b),
            "alpha": inp(t),
            "out": out(a + (b - a) * t[:, None]),
            "in": inp(x),
            "small": out(small.astype(np.float16)),
        },
        [
            launch("blend", [ceil(n, 32)], [32], "a", "b", "alpha", "out", I(n)),
            launch("shrink", [ceil(w // 2, 8), ceil(h // 2, 4)], [8, 4], "in", "small", I(w), I(h)),
        ],
        [],
    )
