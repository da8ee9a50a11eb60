"""Three fields updated in turn, time-dependent border."""

import numpy as np

from bounds import E
from cases import I, ceil, f32, launch, out

AFTER = "PolyBench fdtd-2d"


def make(r):
    nx, ny, steps = 26, 35, 3
    ex0, ey0, hz0 = f32(r, nx, ny), f32(r, nx, ny), f32(r, nx, ny)
    ex, ey, hz = E(ex0), E(ey0), E(hz0)
    launches = []
    for t in range(steps):
        ey[1:] = ey[1:] - (hz[1:] - hz[:-1]) * 0.5
        ey[0] = E(np.full(ny, float(t)))
        ex[:, 1:] = ex[:, 1:] - (hz[:, 1:] - hz[:, :-1]) * 0.5
        hz[:-1, :-1] = hz[:-1, :-1] - (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]) * 0.7
        size = [ceil(ny, 12), ceil(nx, 4)]
        launches += [
            launch("step_e", size, [12, 4], "ex", "ey", "hz", I(nx), I(ny), I(t)),
            launch("step_h", size, [12, 2], "ex", "ey", "hz", I(nx), I(ny)),
        ]
    return {"ex": out(ex, init=ex0), "ey": out(ey, init=ey0), "hz": out(hz, init=hz0)}, launches, []
