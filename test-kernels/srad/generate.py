"""Diffusion coefficients from four differences with divisions, then the update."""

import numpy as np

from bounds import E, edge
from cases import F, I, ceil, f32, launch, out, tmp

AFTER = "Rodinia srad"


def make(r):
    w, h, q0, lam = 33, 25, 0.05, 0.125
    j0 = f32(r, h, w, low=1, high=2)
    j = E(j0)
    launches = []
    for _ in range(2):
        p = edge(j)
        dn, ds, dw, de = (p[:-2, 1:-1] - j), (p[2:, 1:-1] - j), (p[1:-1, :-2] - j), (p[1:-1, 2:] - j)
        g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j)
        l = (dn + ds + dw + de) / j
        num = g2 * 0.5 - (l * l) * 0.0625
        den = 1.0 + l * 0.25
        q = num / (den * den)
        c = 1.0 / (1.0 + (q - q0) / np.float32(np.float32(q0) * (np.float32(1) + np.float32(q0))))
        c = c.exact(lambda v: np.clip(v, 0, 1))
        pc = edge(c)
        j = j + (c * dn + pc[2:, 1:-1] * ds + c * dw + pc[1:-1, 2:] * de) * lam
        size = [ceil(w, 12), ceil(h, 5)]
        launches += [
            launch(
                "coefficients",
                size,
                [12, 5],
                "j",
                "c",
                I(w),
                I(h),
                F(q0),
                F(float(np.float32(np.float32(q0) * (np.float32(1) + np.float32(q0))))),
            ),
            launch("update", size, [12, 5], "j", "c", "next", I(w), I(h), F(lam)),
            launch("copy", [w * h], [w], "next", "j"),
        ]
    return {"j": out(j, init=j0), "c": out(c), "next": tmp("float32", h, w)}, launches, []
