"""Euler fluxes over an unstructured mesh: indirect neighbours, two kinds of border, structures by value."""

import numpy as np

from bounds import E, stack, where, zeros
from cases import F, I, data, f32, inp, launch, out

AFTER = "Rodinia cfd"


def make(r):
    n = 123
    near = r.integers(0, n, (3, n)).astype(np.int32)
    near[0, :10], near[1, 5:20] = -1, -2
    normal = f32(r, 3, 2, n, low=-0.5, high=0.5)
    rho, mx, my = f32(r, n, low=1, high=2), f32(r, n, low=-0.5, high=0.5), f32(r, n, low=-0.5, high=0.5)
    energy = f32(r, n, low=3, high=5)
    far = np.array([1.5, 0.25, 0.125, 4.0], np.float32)
    v0 = np.stack([rho, mx, my, energy])
    v = [E(x) for x in v0]

    def derive(v):
        u, w = v[1] / v[0], v[2] / v[0]
        p = (v[3] - (u * v[1] + w * v[2]) * 0.5) * 0.4
        return u, w, p

    flux = [zeros(n) for _ in range(4)]
    a = derive(v)
    for k in range(3):
        o = [E(np.where(near[k] == -2, far[c], v0[c][np.maximum(near[k], 0)])) for c in range(4)]
        b = derive(o)
        nx, ny = E(normal[k, 0]), E(normal[k, 1])
        va, vb = a[0] * nx + a[1] * ny, b[0] * nx + b[1] * ny
        s = E(np.full(n, 0.3).astype(np.float32).astype(np.float64))
        inner = [
            v[0] * va + o[0] * vb - s * (o[0] - v[0]),
            v[1] * va + a[2] * nx + (o[1] * vb + b[2] * nx) - s * (o[1] - v[1]),
            v[2] * va + a[2] * ny + (o[2] * vb + b[2] * ny) - s * (o[2] - v[2]),
            (v[3] + a[2]) * va + (o[3] + b[2]) * vb - s * (o[3] - v[3]),
        ]
        wall = [zeros(n), a[2] * nx, a[2] * ny, zeros(n)]
        for c in range(4):
            flux[c] = flux[c] + where(near[k] == -1, wall[c], inner[c] * 0.5)
    result = [v[c] - flux[c] * 0.1 for c in range(4)]
    return (
        {"v": inp(v0), "near": inp(near), "normal": inp(normal), "out": out(stack(result))},
        [launch("flux", [126], [42], "v", "near", "normal", "out", data("4f", *far.tolist()), F(float(np.float32(0.1))), I(n))],
        [],
    )
