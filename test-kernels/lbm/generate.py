"""D2Q9 lattice Boltzmann: nine planes, collide and push, bounce-back cells, wrapped borders."""

import numpy as np

from bounds import E, where, zeros
from cases import F, I, inp, launch, out, tmp

AFTER = "Parboil lbm"


def make(r):
    w, h, omega = 23, 17, np.float32(1.1)
    cx, cy = [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]
    wt = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4).astype(np.float32)
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    solid = (r.random((h, w)) < 0.1).astype(np.uint8)
    f0 = (wt[:, None, None] * r.uniform(0.9, 1.1, (9, h, w))).astype(np.float32)
    f = E(f0)
    for _ in range(2):
        rho, ux, uy = f[0], zeros(h, w), zeros(h, w)
        for k in range(1, 9):
            rho = rho + f[k]
            ux, uy = ux + f[k] * float(cx[k]), uy + f[k] * float(cy[k])
        ux, uy = ux / rho, uy / rho
        base = 1.0 - (ux * ux + uy * uy) * 1.5
        new = zeros(9, h, w)
        for k in range(9):
            cu = ux * float(3 * cx[k]) + uy * float(3 * cy[k])
            eq = E(wt[k]) * rho * (base + cu + cu * cu * 0.5)
            o = f[k] + (eq - f[k]) * omega
            o = where(solid != 0, f[opposite[k]], o)
            new[k] = E(np.roll(o.v, (cy[k], cx[k]), (0, 1)), np.roll(o.e, (cy[k], cx[k]), (0, 1)))
        f = new
    l = lambda a, b: launch("collide_and_push", [24, 18], [8, 6], a, b, "solid", I(w), I(h), F(float(omega)))
    return {"f": out(f, init=f0), "solid": inp(solid), "other": tmp("float32", 9, h, w)}, [l("f", "other"), l("other", "f")], []
