"""Short phases of many registers: tiles of bodies between dependent loads"""

import numpy as np

from bounds import E, rsqrt, stack, zeros
from cases import I, f32, inp, launch, nearest, out


def make(r):
    groups, n, steps, lines, tile = 2, 40, 5, 17, 8
    link, data, bodies, soft = r.integers(0, lines, lines).astype(np.int32), f32(r, lines, n, 2), f32(r, 4 * tile, 4), nearest(0.5)
    result = []
    for g in range(groups):
        line, sums = g, [zeros(n) for _ in range(3)]
        for step in range(steps):
            line = link[line]
            v, parts = E(data[line]), []
            for k in range(tile):
                b = E(bodies[step % 4 * tile + k])
                d = [b[0] - v[:, 0], b[1] - v[:, 1], b[2] - sums[0]]
                i = rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + E(soft["f32"]))
                f = b[3] * i * i * i
                parts.append([x * f for x in d])
            for c in range(3):
                b = [p[c] for p in parts]
                sums[c] = E(0.25) * sums[c] + ((b[0] + b[1]) + (b[2] + b[3]) + ((b[4] + b[5]) + (b[6] + b[7])))
        result.append(stack(sums + [zeros(n)]).T)
    return (
        {"link": inp(link), "data": inp(data), "bodies": inp(bodies), "out": out(stack(result))},
        [launch("walk", [groups * n], [n], "link", "data", "bodies", "out", I(steps), soft)],
        [],
    )
