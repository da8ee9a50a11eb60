"""Geometry: cross, normalize, length, distance, mix, step and smoothstep on float3 and float4."""

import numpy as np

from bounds import U32, E, stack
from cases import f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 43
    a, b, t = f32(r, n, 4, low=0.5, high=2), f32(r, n, 4, low=-2, high=-0.5), f32(r, n, low=0.1, high=0.9)
    A, B = E(a), E(b)
    A3, B3 = [A[:, i] for i in range(3)], [B[:, i] for i in range(3)]
    cross = [A3[1] * B3[2] - A3[2] * B3[1], A3[2] * B3[0] - A3[0] * B3[2], A3[0] * B3[1] - A3[1] * B3[0]]
    dot = lambda x, y: x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    # OpenCL allows length and distance 2.75 + 0.5 n ulp, normalize 2 + n, over the exact sum of squares.
    size = dot(A3, A3).through(np.sqrt, 4.25, 0.0)
    unit = [E(x.v / size.v, 5 * 2 * U32 * np.abs(x.v / size.v)) for x in A3]
    d3 = [x - y for x, y in zip(A3, B3)]
    distance = dot(d3, d3).through(np.sqrt, 4.25, 0.0)
    mix = A + (B - A) * E(t)[:, None]
    u = E(t)
    smooth = u * u * (3.0 - u * 2.0)
    return (
        {
            "a": inp(a),
            "b": inp(b),
            "t": inp(t),
            "perpendicular": out(E(np.stack([c.v for c in cross], 1), np.stack([c.e for c in cross], 1))),
            "unit": out(E(np.stack([c.v for c in unit], 1), np.stack([c.e for c in unit], 1))),
            "scalars": out(stack([size, distance, dot(A3, B3), smooth]).T),
            "mixed": out(mix),
        },
        [launch("shapes", [n], [43], "a", "b", "t", "perpendicular", "unit", "scalars", "mixed")],
        [],
    )
