"""Relational functions on vectors: select, bitselect, isnan, isinf, isless and the rest, any, all, signbit."""

import numpy as np

from cases import inp, launch, out

AFTER = "all suites"


def make(r):
    n = 48
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, 3.5], np.float32)
    x, y = special[r.integers(0, 9, (n, 4))], special[r.integers(0, 9, (n, 4))]
    with np.errstate(invalid="ignore"):
        tests = [
            np.isnan(x),
            np.isinf(x),
            np.isfinite(x),
            np.signbit(x),
            x == y,
            x != y,
            x < y,
            x <= y,
            x > y,
            x >= y,
            (x < y) | (x > y),
            ~(np.isnan(x) | np.isnan(y)),
            np.isnan(x) | np.isnan(y),
            np.isfinite(x) & (np.abs(x) >= 2.0**-126),
        ]
        masks = sum(t.astype(np.int32) << i for i, t in enumerate(tests))
        flags = np.array([(x[i] < y[i]).any() * 1 + (x[i] <= y[i]).all() * 2 for i in range(n)], np.int32)
        chosen = np.where(x < y, x, y).view(np.uint32)
    m = r.integers(0, 1 << 32, (n, 4), dtype=np.uint64).astype(np.uint32)
    bits = (x.view(np.uint32) & ~m) | (y.view(np.uint32) & m)
    return (
        {
            "x": inp(x),
            "y": inp(y),
            "m": inp(m),
            "masks": out(masks),
            "flags": out(flags),
            "chosen": out(chosen.view(np.float32)),
            "bits": out(bits),
        },
        [launch("compare", [n], [24], "x", "y", "m", "masks", "flags", "chosen", "bits")],
        [],
    )
