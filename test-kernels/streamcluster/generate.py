"""The gain of opening a centre: weighted distances to a candidate in local memory, switching points."""

import numpy as np

from bounds import E, decided, where, zeros
from cases import I, L, f32, inp, launch, out

AFTER = "Rodinia streamcluster"


def make(r):
    n, dims, candidate = 157, 9, 42
    p, w, cost0 = f32(r, dims, n), f32(r, n, low=0.5, high=2), f32(r, n, low=1, high=9)
    d = zeros(n)
    for j in range(dims):
        t = E(p[j]) - E(p[j, candidate])
        d = d + t * t
    delta = d * E(w) - E(cost0)
    switch = decided(delta)
    lower = where(switch, delta, zeros(n))
    cost = where(switch, d * E(w), E(cost0))
    return (
        {
            "p": inp(p),
            "weight": inp(w),
            "cost": out(cost, init=cost0),
            "lower": out(lower),
            "switched": out(switch.astype(np.uint8)),
        },
        [launch("gain", [160], [32], "p", "weight", "cost", "lower", "switched", L(4 * dims), I(candidate), I(n), I(dims))],
        [],
    )
