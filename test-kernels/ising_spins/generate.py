"""Spins on a torus by chessboard colours: bytes with signs, random numbers beside them, a table of chances"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "Monte Carlo suites"


def make(r):
    w, h, sweeps = 38, 22, 3
    spin, seed = r.choice([-1, 1], (h, w)).astype(np.int8), r.integers(0, 1 << 32, (h, w)).astype(np.uint32)
    chance = [1.0, 1.0, 1.0, np.exp(-4 * 0.44), np.exp(-8 * 0.44)]
    threshold = np.array([min(int(c * (1 << 32)), (1 << 32) - 1) for c in chance], np.uint32)
    s, x = spin.astype(int), seed.astype(np.uint64)
    black = np.add.outer(np.arange(h), np.arange(w)) % 2
    launches = []
    for k in range(2 * sweeps):
        at = black == k % 2
        total = np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)
        x = np.where(at, (x * np.uint64(1664525) + np.uint64(1013904223)) & np.uint64(0xFFFFFFFF), x)
        s = np.where(at & (x < threshold[(s * total + 4) // 2]), -s, s)
        launches.append(launch("flip", [ceil(w // 2, 8), ceil(h, 4)], [8, 4], "spin", "seed", "threshold", I(w), I(h), I(k % 2)))
    return (
        {"spin": out(s.astype(np.int8), init=spin), "seed": out(x.astype(np.uint32), init=seed), "threshold": inp(threshold)},
        launches,
        [],
    )
