"""Conversions among 8- to 64-bit integers, float and double: saturation, the four roundings, wrap."""

import numpy as np

from cases import inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 60
    d = np.concatenate(
        [
            [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 300.5, -300.5, 3e9, -3e9, 1e19, -1e19],
            r.standard_normal(n - 12) * 10.0 ** r.integers(0, 12, n - 12),
        ]
    )
    l = np.concatenate([[2**63 - 1, -(2**63), 0, -1, 2**53 + 1, 2**24 + 1], r.integers(-(2**62), 2**62, n - 6)]).astype(np.int64)
    sat = lambda v, lo, hi: np.array([int(min(max(int(t), lo), hi)) for t in v.tolist()])
    f = d.astype(np.float32)
    o = np.stack(
        [
            sat(np.trunc(d), -128, 127),
            sat(np.rint(d), 0, 255),
            sat(np.floor(d), -32768, 32767),
            sat(np.ceil(d), 0, 65535),
            sat(np.rint(f), -(2**31), 2**31 - 1),
            sat(np.trunc(f.astype(np.float64)), 0, 2**32 - 1),
        ],
        1,
    ).astype(np.int64)
    wide = np.stack(
        [
            sat(np.floor(d), -(2**63), 2**63 - 1),
            sat(l, -(2**31), 2**31 - 1),
            l.astype(np.int32).astype(np.int64),
            sat(l, 0, 255),
            l.astype(np.int8).astype(np.int64),
        ],
        1,
    )

    def nearest(v, dtype):  # one rounding: Python's int to float is correctly rounded, to float32 through exact halves
        if dtype == np.float64:
            return float(v)
        bits = max(abs(v).bit_length() - 24, 0)
        q, rest = abs(v) >> bits, abs(v) & ((1 << bits) - 1)
        q += rest * 2 > 1 << bits or (rest * 2 == 1 << bits and bits and q & 1)
        return float((q << bits) * (1 if v >= 0 else -1))

    return (
        {
            "d": inp(d),
            "l": inp(l),
            "out": out(o),
            "wide": out(wide),
            "f": out(np.array([nearest(int(v), np.float32) for v in l], np.float32)),
            "g": out(np.array([float(int(v)) for v in l])),
        },
        [launch("convert", [n], [30], "d", "l", "out", "wide", "f", "g")],
        [],
    )
