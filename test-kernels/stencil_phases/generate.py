"""Short phases of many registers: steps of time over 32 cells between dependent loads"""

import numpy as np

from bounds import E, zeros
from cases import I, f32, inp, launch, nearest, out


def make(r):
    groups, n, steps, lines, cells, times = 2, 40, 4, 17, 32, 4
    link, data, ground, c = r.integers(0, lines, lines).astype(np.int32), f32(r, lines, n), f32(r, 128), nearest(0.24)
    at = np.arange(n)[:, None] + np.arange(cells)
    result = []
    for g in range(groups):
        line, s = g, zeros(n)
        for _ in range(steps):
            line = link[line]
            x = E(ground[at]) * E(data[line][:, None])
            for _ in range(times):
                x = x[:, 1:-1] + E(c["f32"]) * (x[:, :-2] + x[:, 2:] - E(2.0) * x[:, 1:-1])
            total = zeros(n)
            for k in range(cells - 2 * times):
                total = total + x[:, k]
            s = E(0.5) * s + total
        result.append(s)
    want = E(np.stack([s.v for s in result]), np.stack([s.e for s in result]))
    return (
        {"link": inp(link), "data": inp(data), "ground": inp(ground), "out": out(want)},
        [launch("walk", [groups * n], [n], "link", "data", "ground", "out", I(steps), c)],
        [],
    )
