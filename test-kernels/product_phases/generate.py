"""Short phases of many registers: products of 4 x 4 matrices between dependent loads"""

import numpy as np

from bounds import E, zeros
from cases import I, f32, inp, launch, out


def make(r):
    groups, n, steps, lines = 3, 40, 5, 17
    link, data, m = r.integers(0, lines, lines).astype(np.int32), f32(r, lines, n), f32(r, 8, 4, 4)
    result = []
    for g in range(groups):
        line, s = g, zeros(n)
        for step in range(steps):
            line = link[line]
            v = data[line]
            which = np.where(v > 0, 4, 0)
            a, b = E(m[which]), E(m[which + 1 + step % 3]) * E(v[:, None, None])
            c = a[:, :, 0:1] * b[:, 0:1]
            for k in range(1, 4):
                c = c + a[:, :, k : k + 1] * b[:, k : k + 1]
            d = c[:, 0] * a[:, 0]
            for k in range(1, 4):
                d = d + c[:, k] * a[:, k]
            s = E(0.5) * s + (d[:, 0] + d[:, 1] + d[:, 2] + d[:, 3])
        result.append(s)
    want = E(np.stack([s.v for s in result]), np.stack([s.e for s in result]))
    return (
        {"link": inp(link), "data": inp(data), "matrices": inp(m), "out": out(want)},
        [launch("walk", [groups * n], [n], "link", "data", "matrices", "out", I(steps))],
        [],
    )
