"""Conjugate gradients: a sparse product, dot products by group and their sums, updates; scalars stay in memory."""

import numpy as np

from bounds import U64, E, tree, zeros
from cases import I, ceil, launch, out, tmp

AFTER = "SHOC, vendor samples"


def make(r):
    w = 13
    n, g, steps = w * w, 32, 3
    groups = -(-n // g)
    b = r.uniform(-1, 1, n)
    B = E(b, u=U64)
    x, res, p = zeros(n, u=U64), B.copy(), B.copy()

    def a_times(p):
        q = E(np.pad(p.v.reshape(w, w), 1), np.pad(p.e.reshape(w, w), 1), U64)
        c = q[1:-1, 1:-1]
        return (c * 4.5 - q[:-2, 1:-1] - q[2:, 1:-1] - q[1:-1, :-2] - q[1:-1, 2:]).reshape(n)

    def dot(u, v):
        t = u * v
        t = E(np.pad(t.v, (0, groups * g - n)), np.pad(t.e, (0, groups * g - n)), U64).reshape(groups, g)
        s = zeros(u=U64)
        for part in range(groups):
            s = s + tree(t[part])
        return s

    rr = dot(res, res)
    launches = [
        launch("dots", [groups * g], [g], "res", "res", "parts", I(n)),
        launch("total", [1], [1], "parts", "scalars", I(groups), I(0)),
    ]
    for _ in range(steps):
        q = a_times(p)
        alpha = rr / dot(p, q)
        x, res = x + alpha * p, res - alpha * q
        new = dot(res, res)
        p, rr = res + new / rr * p, new
        launches += [
            launch("product", [w + 3, w], [4, 1], "p", "q", I(w)),
            launch("dots", [groups * g], [g], "p", "q", "parts", I(n)),
            launch("total", [1], [1], "parts", "scalars", I(groups), I(1)),
            launch("descend", [ceil(n, 20)], [20], "x", "res", "p", "q", "scalars", I(n)),
            launch("dots", [groups * g], [g], "res", "res", "parts", I(n)),
            launch("total", [1], [1], "parts", "scalars", I(groups), I(2)),
            launch("turn", [ceil(n, 20)], [20], "res", "p", "scalars", I(n)),
            launch("total", [1], [1], "parts", "scalars", I(groups), I(0)),
        ]
    return (
        {
            "x": out(x),
            "res": out(res, init=b),
            "p": out(p, init=b),
            "q": tmp("float64", n),
            "parts": tmp("float64", groups),
            "scalars": tmp("float64", 3),
        },
        launches,
        [],
    )
