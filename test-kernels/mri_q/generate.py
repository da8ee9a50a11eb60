"""Sums of sines and cosines over sample points in constant memory, several launches that accumulate."""

import numpy as np

from bounds import E, cos, sin, stack, zeros
from cases import I, f32, inp, launch, out

AFTER = "Parboil mri-q, mri-fhd"


def make(r):
    n, k = 70, 24
    pos, traj = f32(r, 3, n), f32(r, k, 4)
    P, q = E(pos), zeros(2, n)
    two_pi = np.float32(6.2831853)
    for i in range(k):
        t = E(traj[i])
        phase = (t[0] * P[0] + t[1] * P[1] + t[2] * P[2]) * two_pi
        q[0] = q[0] + t[3] * cos(phase)
        q[1] = q[1] + t[3] * sin(phase)
    q = stack([q[0], q[1]])
    return (
        {"pos": inp(pos), "k": inp(traj), "re": out(q[0]), "im": out(q[1])},
        [launch("q", [72], [24], "pos", "k", "re", "im", I(n), I(f), I(8)) for f in range(0, k, 8)],
        [],
    )
