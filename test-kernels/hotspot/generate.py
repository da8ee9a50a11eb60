"""Two time steps a launch in a local tile whose halo shrinks."""

from bounds import E, edge
from cases import I, f32, inp, launch, out, tmp

AFTER = "Rodinia hotspot"


def make(r):
    w, h, t = 41, 27, 12
    temp0, power = f32(r, h, w, low=70, high=90), f32(r, h, w, low=0, high=1)
    temp = E(temp0)
    for _ in range(4):
        p = edge(temp)
        temp = (
            temp
            + (
                E(power)
                + (p[2:, 1:-1] + p[:-2, 1:-1] - temp * 2.0) * 0.1
                + (p[1:-1, 2:] + p[1:-1, :-2] - temp * 2.0) * 0.15
                + (80.0 - temp) * 0.01
            )
            * 0.5
        )
    size = [-(-w // (t - 4)) * t, -(-h // (t - 4)) * t]
    l = lambda a, b: launch("hotspot", size, [t, t], a, "power", b, I(w), I(h))
    return (
        {"temp": out(temp, init=temp0), "power": inp(power), "other": tmp("float32", h, w)},
        [l("temp", "other"), l("other", "temp")],
        [],
    )
