"""A step of a recurrent cell: four gates a work-item in registers, its inputs in local memory, exponentials"""

import numpy as np

from bounds import E, exp, stack, zeros
from cases import I, f32, inp, launch, out

AFTER = "machine learning layers"


def make(r):
    rows, inputs, units = 5, 11, 20
    x, h, c = f32(r, rows, inputs), f32(r, rows, units), f32(r, rows, units)
    w, b = f32(r, inputs + units, 4, units), f32(r, 4, units)
    s = np.concatenate([x, h], 1)
    g = [zeros(rows, units) + E(b[k][None]) for k in range(4)]
    for k in range(inputs + units):
        g = [v + E(s[:, k : k + 1]) * E(w[k, i][None]) for i, v in enumerate(g)]
    sigmoid = lambda v: E(1.0) / (E(1.0) + exp(-v))
    tanh = lambda v: v.through(np.tanh, 5)
    state = sigmoid(g[1]) * E(c) + sigmoid(g[0]) * tanh(g[2])
    return (
        {
            "x": inp(x),
            "h": inp(h),
            "c": inp(c),
            "weight": inp(w),
            "bias": inp(b),
            "new_h": out(sigmoid(g[3]) * tanh(state)),
            "new_c": out(state),
        },
        [launch("cell", [rows * units], [units], "x", "h", "c", "weight", "bias", "new_h", "new_c", I(inputs), I(units))],
        [],
    )
