"""Lines through points by votes: an angle a group, local atomics, the best by a 64-bit atomic maximum"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    angles, distances, count = 24, 150, 240
    p = r.integers(0, 64, (count, 2)).astype(np.int16)
    p[:60, 1] = 50 - p[:60, 0] // 2
    a = np.arange(angles) * np.pi / angles
    d = np.round(1024 * np.stack([np.cos(a), np.sin(a)], -1)).astype(np.int16)
    at = ((p.astype(int) @ d.astype(int).T) >> 10) + distances // 2
    votes = np.zeros((angles, distances), np.uint32)
    for k in range(angles):
        np.add.at(votes[k], at[(at[:, k] >= 0) & (at[:, k] < distances), k], 1)
    top = max((int(v) << 32) | i for i, v in enumerate(votes.ravel()))
    return (
        {"points": inp(p), "direction": inp(d), "votes": out(votes), "top": out(np.array([top], np.uint64))},
        [
            launch("vote", [angles * 48], [48], "points", "direction", "votes", I(count), I(distances)),
            launch("best", [ceil(votes.size, 64)], [64], "votes", "top", I(votes.size)),
        ],
        [],
    )
