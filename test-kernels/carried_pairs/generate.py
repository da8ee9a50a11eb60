"""carried_pairs: state = 100, steps = 7."""

import numpy as np

from cases import given, launch

WORD = 2**32 - 1


def own(s, steps):
    for _ in range(steps):
        low, high = s & WORD, s >> 32
        s = (high ^ low) << 32 | low * 3 & WORD
    return s


def mixed(m, steps):
    for _ in range(steps):
        low, high = m & WORD, m >> 32
        m = ((high ^ low >> 3) + low * 7 & WORD) << 32 | low * 3 + high & WORD
        if m % 5 == 1:
            m = (m & WORD) << 32 | m >> 32
    return m


def swapped(p, steps):
    x, y = p
    for _ in range(steps):
        x, y = y, x
        if x & 1:
            y = y + x & WORD
        elif y > 1000:
            x, y = y - 3, x
    return x, y


def make(rng):
    n, steps = 100, 7
    state = rng.integers(0, 2**64, n, dtype=np.uint64)
    other = rng.integers(0, 2**64, n, dtype=np.uint64)
    pairs = rng.integers(0, 2**32, (n, 2), dtype=np.uint32)
    buffers = {
        "state": given(state, np.array([own(int(s), steps) for s in state], np.uint64)),
        "pairs": given(pairs, np.array([swapped(map(int, p), steps) for p in pairs], np.uint32)),
        "mixed": given(other, np.array([mixed(int(m), steps) for m in other], np.uint64)),
    }
    return buffers, [launch("carried_pairs", [n], [50], "state", "pairs", "mixed", {"i32": steps})], []
