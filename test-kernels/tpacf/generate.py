"""Angles between all pairs into bins by binary search; a histogram a group in local memory."""

import numpy as np

from bounds import E, decided
from cases import I, inp, launch, out

AFTER = "Parboil tpacf"


def make(r):
    n, bins = 90, 11
    v = r.standard_normal((n, 3))
    v = (v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32)
    bound = np.cos(np.linspace(0.1, 3.0, bins - 1)).astype(np.float32)  # falling
    V = E(v)
    d = V[:, None, 0] * V[None, :, 0] + V[:, None, 1] * V[None, :, 1] + V[:, None, 2] * V[None, :, 2]
    i, j = np.triu_indices(n, 1)
    d = d[i, j]
    index = sum(decided(d, b).astype(int) for b in bound)
    return (
        {"v": inp(v), "bound": inp(bound), "histogram": out(np.bincount(index, minlength=bins).astype(np.uint32))},
        [launch("pairs", [99], [33], "v", "bound", "histogram", I(n))],
        [],
    )
