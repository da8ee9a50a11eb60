"""Layer forward over a local tile with a tree per column, sigmoid, weight update."""

import numpy as np

from bounds import E, exp, stack, tree, zeros
from cases import I, L, f32, inp, launch, out

AFTER = "Rodinia backprop"


def make(r):
    n, hidden, tile = 48, 12, 16
    x, w0, old0, delta = f32(r, n), f32(r, n, hidden), f32(r, n, hidden, low=-0.1, high=0.1), f32(r, hidden)
    partial = stack([tree(E(x[g * tile : (g + 1) * tile])[:, None] * E(w0[g * tile : (g + 1) * tile])) for g in range(n // tile)])
    s = zeros(hidden)
    for g in range(n // tile):
        s = s + partial[g]
    y = 1.0 / (1.0 + exp(-s))
    step = E(np.float32(0.3).astype(np.float64)) * E(delta)[None, :] * E(x)[:, None] + E(np.float32(0.2).astype(np.float64)) * E(
        old0
    )
    return (
        {
            "x": inp(x),
            "w": out(E(w0) + step, init=w0),
            "old": out(step, init=old0),
            "delta": inp(delta),
            "partial": out(partial),
            "y": out(y),
        },
        [
            launch("forward", [hidden, n], [hidden, tile], "x", "w", "partial", L(4 * tile), L(4 * tile * hidden)),
            launch("squash", [hidden], [hidden], "partial", "y", I(n // tile)),
            launch("adjust", [hidden, n], [hidden, 2], "w", "old", "delta", "x"),
        ],
        [],
    )
