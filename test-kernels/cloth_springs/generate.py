"""A net of springs: square roots and divisions in a helper function, divergent borders, float4"""

import numpy as np

from bounds import E, sqrt, stack, where, zeros
from cases import I, ceil, f32, launch, nearest, out

AFTER = "physics suites"


def make(r):
    w, h = 19, 13
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    start = np.stack([x, -y, np.zeros_like(x), np.zeros_like(x)], -1) + f32(r, h, w, 4, low=-0.2, high=0.2)
    start[..., 3] = 0
    rest, stiff, fall = nearest(0.9), nearest(0.1), nearest(0.01)
    states = [E(start), E(start)]
    for _ in range(2):
        b, p = states[-2:]
        after = p.copy()
        for j in range(1, h):
            for i in range(w):
                me = p[j, i]
                f = E(np.array([0, -fall["f32"], 0, 0], np.float32))
                for dj, di in ((0, -1), (0, 1), (-1, 0), (1, 0)):
                    if 0 <= i + di < w and j + dj < h:
                        d = p[j + dj, i + di] - me
                        n = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
                        f = f + d * (E(stiff["f32"]) * (n - E(rest["f32"])) / n)
                new = E(2.0) * me - b[j, i] + f
                after.v[j, i], after.e[j, i] = new.v, new.e
        states.append(after)
    size = [ceil(w, 8), ceil(h, 4)]
    return (
        {"a": out(states[3], init=start), "b": {"npy": start}, "c": out(states[2])},
        [launch("move", size, [8, 4], *names, I(w), I(h), rest, stiff, fall) for names in (("b", "a", "c"), ("c", "b", "a"))],
        [],
    )
