"""Red-black Gauss-Seidel in place: two colours a sweep."""

import numpy as np

from bounds import E, where
from cases import I, f32, launch, out

AFTER = "PolyBench seidel-2d"


def make(r):
    w, h = 31, 22
    a0 = f32(r, h, w)
    a = E(a0)
    yy, xx = np.mgrid[1 : h - 1, 1 : w - 1]
    launches = []
    for colour in (0, 1, 0, 1):
        new = (a[:-2, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1]) * 0.25
        a[1:-1, 1:-1] = where((xx + yy) % 2 == colour, new, a[1:-1, 1:-1])
        launches.append(launch("sweep", [32, 20], [16, 2], "a", I(w), I(h), I(colour)))
    return {"a": out(a, init=a0)}, launches, []
