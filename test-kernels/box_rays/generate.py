"""Rays against boxes by slabs: float3 loads of packed data, minima and maxima, infinities, the nearest"""

import numpy as np

from cases import I, ceil, inp, launch, out


def make(r):
    count, n = 90, 23
    start, way = r.uniform(-4, 4, (count, 3)).astype(np.float32), r.uniform(-1, 1, (count, 3))
    inverse = (1 / np.where(abs(way) < 0.05, 0.05, way)).astype(np.float32)
    low = r.uniform(-3, 2, (n, 3)).astype(np.float32)
    high = low + r.uniform(0.2, 1.5, (n, 3)).astype(np.float32)
    a, b = (low[None] - start[:, None]) * inverse[:, None], (high[None] - start[:, None]) * inverse[:, None]
    near, far = np.maximum(np.minimum(a, b).max(2), np.float32(0)), np.maximum(a, b).min(2)
    t = np.where(near <= far, near, np.float32(np.inf)).astype(np.float32)
    hit = np.where(np.isfinite(t.min(1)), t.argmin(1), -1).astype(np.int32)
    assert 10 < (hit >= 0).sum() < 80
    return (
        {
            "rays": inp(np.stack([start, inverse], 1)),
            "boxes": inp(np.stack([low, high], 1)),
            "hit": out(hit),
            "distance": out(t.min(1).astype(np.float32)),
        },
        [launch("cast", [ceil(count, 32)], [32], "rays", "boxes", "hit", "distance", I(count), I(n))],
        [],
    )
