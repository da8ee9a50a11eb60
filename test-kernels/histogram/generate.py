"""Local and global integer atomics with collisions, local argument."""

import numpy as np

from cases import UI, L, inp, launch, out


def make(r):
    n = 10007
    v = np.clip(r.normal(128, 40, n), 0, 255).astype(np.uint8)
    v[r.random(n) < 0.2] = 77
    bins = np.bincount(v, minlength=256).astype(np.uint32)
    return {"in": inp(v), "bins": out(bins)}, [launch("histogram", [500], [100], "in", "bins", L(1024), UI(n))], []
