"""A lattice gas: small private tables, wrapped coordinates, bits of bytes, a popcount summed by atomics"""

import numpy as np

from cases import I, ceil, launch, out

AFTER = "physics suites"


def make(r):
    w, h, steps = 37, 19, 4
    start = r.integers(0, 16, (h, w)).astype(np.uint8)
    history = [start]
    for _ in range(steps):
        c = history[-1]
        c = np.where(c == 5, 10, np.where(c == 10, 5, c))
        moves = [np.roll(c & 1, 1, 1), np.roll(c & 2, 1, 0), np.roll(c & 4, -1, 1), np.roll(c & 8, -1, 0)]
        history.append(np.bitwise_or.reduce(moves).astype(np.uint8))
    count = sum(bin(v).count("1") for v in start.ravel())
    assert count == sum(bin(v).count("1") for v in history[-1].ravel())
    size, pairs = [ceil(w, 8), ceil(h, 8)], [("a", "b"), ("b", "a")]
    return (
        {"a": out(history[4], init=start), "b": out(history[3]), "total": out(np.array([count], np.uint32))},
        [launch("collide", size, [8, 8], *pairs[k % 2], I(w), I(h)) for k in range(steps)]
        + [launch("energy", [ceil(w * h, 64)], [64], "a", "total", I(w * h))],
        [],
    )
