"""Means along paths of prices: exponentials in a loop, the work-group's sum by halves, a ragged last group"""

import numpy as np

from bounds import E, exp, stack, tree, zeros
from cases import I, L, ceil, inp, launch, nearest, out

AFTER = "Monte Carlo suites"


def make(r):
    n, steps, block = 110, 8, 32
    normal = r.standard_normal((steps, n)).astype(np.float32)
    price, strike, drift, spread = nearest(100.0), nearest(98.0), nearest(0.001), nearest(0.06)
    v, s = E(np.full(n, price["f32"])), zeros(n)
    for k in range(steps):
        v = v * exp(E(drift["f32"]) + E(spread["f32"]) * E(normal[k]))
        s = s + v
    p = (s / E(float(steps)) - E(strike["f32"])).exact(lambda x: np.maximum(x, 0))
    groups = ceil(n, block) // block
    padded = zeros(groups * block)
    padded[:n] = p
    return (
        {"normal": inp(normal), "payoff": out(stack([tree(padded[g * block : (g + 1) * block]) for g in range(groups)]))},
        [launch("paths", [groups * block], [block], "normal", "payoff", L(4 * block), price, strike, drift, spread, I(steps), I(n))],
        [],
    )
