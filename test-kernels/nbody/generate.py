"""All-pairs interaction, float4 and float3, square roots."""

import numpy as np

from cases import I, given, launch

SEED = 11


def make(r):
    n = 150
    p = r.standard_normal((n, 4)).astype(np.float32)
    p[:, 3] = r.uniform(0.5, 2, n)
    q = p.astype(np.float64)
    d = q[None, :, :3] - q[:, None, :3]
    inv = 1 / np.sqrt((d**2).sum(2) + 0.01) ** 3
    acc = (d * (inv * q[None, :, 3])[..., None]).sum(1)
    out = np.concatenate([acc, np.zeros((n, 1))], 1).astype(np.float32)
    return (
        {"p": given(p), "a": given(np.zeros((n, 4), np.float32), out, 2e-4, 2e-3)},
        [launch("nbody", [160], [40], "p", "a", I(n))],
        [],
    )
