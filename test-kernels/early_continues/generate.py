"""A loop with its only way out behind a `continue`."""

import numpy as np

from cases import I, given, launch

SEED = 11


def steps_to_one(x, limit):
    i, s = 0, 0
    while True:
        i += 1
        if x & 1:
            x = x * 3 + 1
            s += i
            continue
        x >>= 1
        s ^= i * 7
        if x <= 1 or i > limit:
            return i, s


def make(r):
    limit, count = 1000, 150
    a = r.integers(2, 1000, count).astype(np.int32)
    out = np.array([steps_to_one(int(x), limit) for x in a], np.int64)
    assert abs(out).max() < 2**31
    return (
        {"a": given(a), "o": given(np.zeros(out.size, np.int32), out.astype(np.int32).ravel())},
        [launch("k", [count], [50], "a", "o", I(limit), partial=True)],
        [],
    )
