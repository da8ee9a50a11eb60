"""Shuffle and shuffle2 with masks from memory, swizzles on both sides, vector literals."""

import numpy as np

from cases import f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 40
    a, b = r.integers(0, 256, (n, 8)).astype(np.uint8), r.integers(0, 256, (n, 8)).astype(np.uint8)
    m, f = r.integers(0, 256, (n, 16)).astype(np.uint8), f32(r, n, 4)
    fm = r.integers(0, 1 << 20, (n, 4)).astype(np.uint32)
    both = np.concatenate([a, b], 1)
    y = np.take_along_axis(both, m.astype(int) & 15, 1)
    z = np.take_along_axis(f, fm.astype(int) & 3, 1).copy()
    z[:, [3, 1]] = z[:, [0, 3]]
    w = np.take_along_axis(a, m[:, :8].astype(int) & 7, 1)
    return (
        {"a": inp(a), "b": inp(b), "mask": inp(m), "both": out(y), "one": out(w), "f": inp(f), "fmask": inp(fm), "g": out(z)},
        [launch("mix_up", [n], [20], "a", "b", "mask", "both", "one", "f", "fmask", "g")],
        [],
    )
