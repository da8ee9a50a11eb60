"""Particles in boxes: neighbour lists, positions and charges staged in local memory, exponentials."""

import numpy as np

from bounds import E, exp, zeros
from cases import f32, inp, launch, out

AFTER = "Rodinia lavaMD"


def make(r):
    side, per = 3, 10
    boxes = side**2
    pos, charge = f32(r, boxes, per, 4, low=0, high=1), f32(r, boxes, per, low=0.1, high=1)
    lists = []
    for b in range(boxes):
        y, x = divmod(b, side)
        near = [yy * side + xx for yy in range(max(0, y - 1), min(side, y + 2)) for xx in range(max(0, x - 1), min(side, x + 2))]
        lists.append([len(near)] + near + [0] * (9 - len(near)))
    for b in range(boxes):
        pos[b, :, 0] += b % side
        pos[b, :, 1] += b // side
    force = zeros(boxes, per, 4)
    for b in range(boxes):
        me = E(pos[b])
        acc = zeros(per, 4)
        for nb in lists[b][1 : 1 + lists[b][0]]:
            for k in range(per):
                o = E(pos[nb, k])
                d = me[:, :3] - o[:3]
                r2 = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
                u = exp(r2 * -0.5) * E(charge[nb, k])
                acc[:, 0] = acc[:, 0] + u
                fs = u * 2.0
                for c in range(3):
                    acc[:, c + 1] = acc[:, c + 1] + fs * d[:, c]
        force[b] = acc
    return (
        {"boxes": inp(np.array(lists, np.int32)), "pos": inp(pos), "charge": inp(charge), "force": out(force)},
        [launch("forces", [boxes * per], [per], "boxes", "pos", "charge", "force")],
        [],
    )
