"""Spheres lit from one direction: nearest hit in a loop, square roots on the hitting lanes only, packed pixels."""

import numpy as np

from bounds import E, decided, sqrt, where, zeros
from cases import I, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    w, h, spheres = 29, 22, 6
    s = np.concatenate(
        [f32(r, spheres, 2, low=-0.8, high=0.8), f32(r, spheres, 1, low=2, high=4), f32(r, spheres, 1, low=0.3, high=0.6)], 1
    )
    light = np.array([0.48, -0.6, -0.64], np.float32)
    yy, xx = np.mgrid[0:h, 0:w]
    X, Y = E(xx) * 0.0625 - 0.9, E(yy) * 0.0625 - 0.7
    depth, which = E(np.full((h, w), 100.0)), np.full((h, w), -1, np.int8)
    for k in range(spheres):
        dx, dy = X - E(s[k, 0]), Y - E(s[k, 1])
        d = E(s[k, 3]) * E(s[k, 3]) - dx * dx - dy * dy
        hit = ~decided(d)
        z = E(s[k, 2]) - sqrt(E(np.where(hit, d.v, 1.0), np.where(hit, d.e, 0.0)))
        nearer = hit & np.where(hit, decided(where(hit, z - depth, E(np.ones((h, w))))), False)
        depth, which = where(nearer, z, depth), np.where(nearer, k, which).astype(np.int8)
    m = np.maximum(which, 0)
    inv = 1.0 / E(s[:, 3])
    take = lambda x: E(x.v[m], x.e[m])
    n = [(X - take(E(s[:, 0]))) * take(inv), (Y - take(E(s[:, 1]))) * take(inv), (depth - take(E(s[:, 2]))) * take(inv)]
    shade = n[0] * E(light[0]) + n[1] * E(light[1]) + n[2] * E(light[2])
    shade = where(which >= 0, shade.exact(lambda v: np.maximum(v, 0)) * 0.9 + 0.1, zeros(h, w))
    depth_out = where(which >= 0, depth, E(np.full((h, w), 100.0)))
    return (
        {"spheres": inp(s), "depth": out(depth_out), "which": out(which), "shade": out(shade)},
        [
            launch(
                "trace",
                [30, 24],
                [10, 8],
                "spheres",
                "depth",
                "which",
                "shade",
                I(spheres),
                I(w),
                I(h),
                {"f32": [float(v) for v in light] + [0.0]},
            )
        ],
        [],
    )
