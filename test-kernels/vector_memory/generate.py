"""Vloads and vstores of every width, unaligned; halves in memory with rounding."""

import numpy as np

from cases import inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 31
    b, s = r.integers(-128, 128, n * 16 + 1).astype(np.int8), r.integers(-3000, 3000, n * 3 + 1).astype(np.int16)
    h = (r.standard_normal(n * 4) * 10).astype(np.float16)
    sums = np.array([b[i * 16 + 1 : i * 16 + 17].astype(int).sum() for i in range(n)], np.int32)
    reversed_ = s.copy()
    for i in range(n):
        reversed_[i * 3 + 1 : i * 3 + 4] = s[i * 3 + 1 : i * 3 + 4][::-1]
    third = (h.astype(np.float32) * np.float32(0.75)).astype(np.float32)  # exact: 11 bits times 2
    return (
        {
            "b": inp(b),
            "sums": out(sums),
            "s": inp(s),
            "reversed": out(reversed_),
            "h": inp(h),
            "back": out(third.astype(np.float16)),
            "wide": out(third),
        },
        [launch("move", [n], [n], "b", "sums", "s", "reversed", "h", "back", "wide")],
        [],
    )
