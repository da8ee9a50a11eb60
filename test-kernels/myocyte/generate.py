"""Membrane equations stepped in registers: double-precision exponentials and divisions."""

import numpy as np

from bounds import U64, E, exp, stack
from cases import D, I, inp, launch, out

AFTER = "Rodinia myocyte"


def make(r):
    n, steps, dt = 45, 12, 0.01
    current = r.uniform(0, 20, n)
    v0 = r.uniform(-70, -58, n)
    u = U64
    v, m, h, k = E(v0, u=u), E(np.full(n, 0.05), u=u), E(np.full(n, 0.6), u=u), E(np.full(n, 0.32), u=u)
    for _ in range(steps):
        am = (v + 40.0) * 0.1 / (1.0 - exp((v + 40.0) * -0.1))
        bm = exp((v + 65.0) * -0.05) * 4.0
        ah = exp((v + 65.0) * -0.05) * 0.07
        bh = 1.0 / (1.0 + exp((v + 35.0) * -0.1))
        an = (v + 55.0) * 0.01 / (1.0 - exp((v + 55.0) * -0.1))
        bn = exp((v + 65.0) * -0.0125) * 0.125
        ina = m * m * m * h * 120.0 * (v - 50.0)
        ik = k * k * k * k * 36.0 * (v + 77.0)
        il = (v + 54.4) * 0.3
        m = m + (am * (1.0 - m) - bm * m) * dt
        h = h + (ah * (1.0 - h) - bh * h) * dt
        k = k + (an * (1.0 - k) - bn * k) * dt
        v = v + (E(current, u=u) - ina - ik - il) * dt
    return (
        {"current": inp(current), "voltage": out(v, init=v0), "gates": out(stack([m, h, k]))},
        [launch("cells", [n], [15], "current", "voltage", "gates", D(dt), I(steps))],
        [],
    )
