"""Bodies that attract each other, by tiles in local memory; massless bodies fill the last tile"""

import numpy as np

from bounds import E, rsqrt, stack, zeros
from cases import I, L, ceil, f32, inp, launch, nearest, out

AFTER = "vendor samples"


def make(r):
    n, block = 50, 16
    b, v = f32(r, n, 4), f32(r, n, 4)
    b[:, 3], v[:, 3] = r.uniform(0.5, 2, n), 0
    dt, soft = nearest(0.01), nearest(0.25)
    p = E(b)
    acc = [zeros(n) for _ in range(3)]
    for k in range(n):
        d = [p[k, c] - p[:, c] for c in range(3)]
        i = rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + E(soft["f32"]))
        f = p[k, 3] * i * i * i
        acc = [a + x * f for a, x in zip(acc, d)]
    speed = stack([E(v[:, c]) + acc[c] * E(dt["f32"]) for c in range(3)] + [zeros(n)]).T
    return (
        {"bodies": inp(b), "moved": out(p + speed * E(dt["f32"])), "speeds": out(speed, init=v)},
        [launch("advance", [ceil(n, block)], [block], "bodies", "moved", "speeds", L(16 * block), dt, soft, I(n))],
        [],
    )
