"""Bias and activations: relu, gelu, silu, tanh, leaky relu on float4; a uniform switch"""

import math

import numpy as np

from bounds import E, exp, where
from cases import I, ceil, f32, inp, launch, out

AFTER = "machine learning layers"


def make(r):
    rows, columns = 23, 6
    x, b = f32(r, rows, 4 * columns, low=-3, high=3), f32(r, 4 * columns)
    v = E(x) + E(b)
    erf = lambda e: e.through(np.vectorize(math.erf), 16)
    kinds = [
        v.exact(lambda u: np.maximum(u, 0)),
        E(0.5) * v * (E(1.0) + erf(v * E(np.float32(0.70710678)))),
        v / (E(1.0) + exp(-v)),
        v.through(np.tanh, 5),
        where(v.v > 0, v, v * E(0.125)),
    ]
    n = rows * columns
    return (
        {"in": inp(x), "bias": inp(b), **{f"out{k}": out(y) for k, y in enumerate(kinds)}},
        [launch("activate", [ceil(n, 32)], [32], "in", "bias", f"out{k}", I(n), I(columns), I(k)) for k in range(5)],
        [],
    )
