"""Box-Muller and a Monte Carlo price: xorshift generators, sinpi and cospi, a float tree per group."""

import numpy as np

from bounds import U32, E, exp, log, sqrt, stack, tree, zeros
from cases import I, L, launch, out

AFTER = "vendor samples"


def make(r):
    n, g, draws = 128, 32, 4
    seeds = r.integers(1, 1 << 32, n, dtype=np.uint64).astype(np.uint32)
    x = seeds.copy()

    def step():
        nonlocal x
        x = x ^ (x << np.uint32(13))
        x = x ^ (x >> np.uint32(17))
        x = x ^ (x << np.uint32(5))
        return x

    total = zeros(n)
    normals = []
    for _ in range(draws):
        u = E((step() >> np.uint32(8)) + 1.0) * 2.0**-24
        v = E((step() >> np.uint32(8)).astype(np.float64)) * 2.0**-23
        radius = sqrt(log(u) * -2.0)
        for f in (np.cos, np.sin):
            z = radius * E(f(np.pi * v.v), 8 * U32 * np.abs(f(np.pi * v.v)))
            normals.append(z)
            price = exp(z * 0.25 - 0.03125) * 100.0
            total = total + (price - 95.0).exact(lambda t: np.maximum(t, 0))
    mean = tree(total.reshape(n // g, g).T) / float(g * 2 * draws)
    return (
        {"seeds": out(x, init=seeds), "normals": out(stack(normals)), "mean": out(mean)},
        [launch("price", [n], [g], "seeds", "normals", "mean", L(4 * g), I(draws))],
        [],
    )
