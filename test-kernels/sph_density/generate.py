"""Densities of particles sorted into cells: nine cells each, loops of uneven length, float2"""

import numpy as np

from bounds import E, decided, where, zeros
from cases import I, ceil, inp, launch, nearest, out

AFTER = "physics suites"


def make(r):
    w, h, n = 9, 6, 130
    p = (r.random((n, 2)) * [w, h]).astype(np.float32)
    cell = p[:, 1].astype(int) * w + p[:, 0].astype(int)
    order = np.argsort(cell, kind="stable")
    p, cell = p[order], cell[order]
    start = np.searchsorted(cell, np.arange(w * h + 1)).astype(np.int32)
    reach = nearest(0.9)
    s = zeros(n)
    for i in range(n):
        cx, cy = int(p[i, 0]), int(p[i, 1])
        for y in range(max(cy - 1, 0), min(cy + 2, h)):
            for x in range(max(cx - 1, 0), min(cx + 2, w)):
                for k in range(start[y * w + x], start[y * w + x + 1]):
                    dx, dy = E(p[k, 0]) - E(p[i, 0]), E(p[k, 1]) - E(p[i, 1])
                    left = E(reach["f32"]) - (dx * dx + dy * dy)
                    if left.v > -left.e:  # a term within the bound is next to nothing
                        left = left.exact(lambda v: np.maximum(v, 0))
                        s[i] = s[i] + left * left * left
    state = zeros(n, 2)
    pressure = E(3.0) * (s - E(0.5))
    state.v[:, 0], state.e[:, 0], state.v[:, 1], state.e[:, 1] = s.v, s.e, pressure.v, pressure.e
    return (
        {"place": inp(p), "start": inp(start), "state": out(state)},
        [launch("density", [ceil(n, 32)], [32], "place", "start", "state", I(n), I(w), I(h), reach)],
        [],
    )
