"""Sequence alignment: diagonals of blocks, a wavefront in local memory within a block."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "Rodinia nw"


def make(r):
    b, blocks, gap = 9, 4, 3
    n = b * blocks
    s, t = r.integers(0, 4, n).astype(np.uint8), r.integers(0, 4, n).astype(np.uint8)
    score = r.integers(-4, 5, (4, 4)).astype(np.int32)
    m = np.zeros((n + 1, n + 1), np.int32)
    m[0, :] = m[:, 0] = -gap * np.arange(n + 1)
    start = m.copy()
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            m[i, j] = max(m[i - 1, j - 1] + score[s[i - 1], t[j - 1]], m[i - 1, j] - gap, m[i, j - 1] - gap)
    launches = []
    for d in range(2 * blocks - 1):
        first = max(0, d - blocks + 1)
        count = min(d, blocks - 1) - first + 1
        launches.append(launch("diagonal", [count * b], [b], "m", "s", "t", "score", I(n + 1), I(d), I(first), I(gap)))
    return {"m": out(m, init=start), "s": inp(s), "t": inp(t), "score": inp(score)}, launches, []
