"""American options on a binomial lattice, one a group, ping-pong in local memory."""

import numpy as np

from bounds import E, exp, maximum
from cases import F, I, L, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    options, steps = 5, 36
    s, k, up_ = f32(r, options, low=20, high=40), f32(r, options, low=20, high=40), f32(r, options, low=0.02, high=0.06)
    node = np.arange(steps + 1)
    S, K, V = (E(x[:, None]) for x in (s, k, up_))
    pu = np.float32(0.51)
    df = np.float32(0.998)
    value = lambda level: S * exp(V * (2.0 * node[: level + 1] - level))
    v = (K - value(steps)).exact(lambda t: np.maximum(t, 0))
    down = E(np.float64(np.float32(1) - pu))
    for level in range(steps - 1, -1, -1):
        hold = (v[:, 1:] * pu + v[:, :-1] * down) * df
        v = maximum(hold, K - value(level))
    return (
        {"s": inp(s), "k": inp(k), "up": inp(up_), "price": out(v[:, 0])},
        [
            launch(
                "american_put",
                [(steps + 1) * options],
                [steps + 1],
                "s",
                "k",
                "up",
                "price",
                L(4 * steps + 4),
                I(steps),
                F(float(pu)),
                F(float(df)),
            )
        ],
        [],
    )
