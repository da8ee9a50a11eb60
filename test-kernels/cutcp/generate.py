"""A potential lattice from atoms within a cutoff: divergent tests, reciprocal square roots."""

import numpy as np

from bounds import E, decided, rsqrt, where, zeros
from cases import F, I, f32, inp, launch, out

AFTER = "Parboil cutcp"


def make(r):
    w, h, atoms, cut2 = 27, 21, 60, 16.0
    p = f32(r, atoms, 4, low=0, high=12)
    p[:, 3] = f32(r, atoms)
    x, y = E(np.arange(w)) * 0.5, E(np.arange(h)) * 0.5
    total = zeros(h, w)
    for a in range(atoms):
        dx, dy, dz = x - E(p[a, 0]), y - E(p[a, 1]), E(np.float64(6.0)) - E(p[a, 2])
        r2 = (dx * dx)[None, :] + (dy * dy)[:, None] + dz * dz
        near = decided(r2, cut2)
        s = 1.0 - r2 * 0.0625
        total = where(near, total + E(p[a, 3]) * rsqrt(r2) * s * s, total)
    return (
        {"atoms": inp(p), "lattice": out(total)},
        [launch("potential", [30, 21], [15, 3], "atoms", "lattice", I(atoms), I(w), I(h), F(0.5), F(6.0))],
        [],
    )
