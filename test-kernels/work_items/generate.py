"""Every work-item function in three dimensions, with offsets."""

import numpy as np

from cases import given, launch


def make(r):
    size, local, offset = (10, 6, 4), (5, 3, 2), (3, 1, 7)
    out = np.zeros(size[::-1] + (8,), np.int32)
    for z in range(size[2]):
        for y in range(size[1]):
            for x in range(size[0]):
                l = (x % 5, y % 3, z % 2)
                g = (x // 5, y // 3, z // 2)
                out[z, y, x] = [
                    x + 3,
                    y + 1,
                    z + 7,
                    l[0] + 10 * l[1] + 100 * l[2],
                    g[0] + 10 * g[1] + 100 * g[2],
                    size[0] * 10000 + size[1] * 100 + size[2],
                    local[0] * 100 + local[1] * 10 + local[2],
                    3,
                ]
    case = launch("ids", size, local, "out")
    case["offset"] = list(offset)
    return {"out": given(np.zeros_like(out), out)}, [case], []
