"""Normalised correlation of a template at every shift, exact integer sums; the best shift by atomics."""

import numpy as np

from bounds import E, sqrt
from cases import I, inp, launch, out

AFTER = "Rodinia heartwall"


def make(r):
    size, t, shifts = 30, 9, 22
    image = r.integers(0, 256, (size, size)).astype(np.uint8)
    template = np.clip(image[7 : 7 + t, 12 : 12 + t].astype(int) + r.integers(-20, 21, (t, t)), 0, 255).astype(np.uint8)
    T = template.astype(np.int64)
    st, stt, n = T.sum(), (T * T).sum(), t * t
    num, den = np.zeros((shifts, shifts), np.int64), np.zeros((shifts, shifts), np.int64)
    for y in range(shifts):
        for x in range(shifts):
            P = image[y : y + t, x : x + t].astype(np.int64)
            num[y, x] = n * (P * T).sum() - P.sum() * st
            den[y, x] = n * (P * P).sum() - P.sum() ** 2
    dt = n * stt - st * st
    f = lambda a: E(a, 0).rounded(np.asarray(a, np.float64), 0)
    score = f(num) / (sqrt(f(den)) * sqrt(f(dt)))
    whole = np.sort((score.v * 1024).ravel())
    assert (whole[-1] // 1) > (whole[-2] + 1) // 1 and abs(whole[-1] % 1 - 0.5) < 0.49
    y, x = divmod(int(score.v.argmax()), shifts)
    best = int(score.v.max() * 1024) << 16 | y << 8 | x
    assert (y, x) == (7, 12)
    return (
        {
            "image": inp(image),
            "template": inp(template),
            "score": out(score),
            "best": out(np.array([best], np.int32), init=np.array([-(2**31)])),
        },
        [launch("correlate", [24, 24], [24, 4], "image", "template", "score", "best", I(size), I(t), I(shifts))],
        [],
    )
