"""Integer built-ins on 8 to 64 bits: clz, popcount, hadd, saturation, rotate, upsample, mul24, mul_hi, mad_sat."""

import numpy as np

from cases import inp, launch, out

AFTER = "all suites"


def make(r):
    n = 64
    x, y = (r.integers(-(1 << 31), 1 << 31, n).astype(np.int32) for _ in range(2))
    x[:4], y[:4] = [2**31 - 1, -(2**31), 0, -1], [1, -1, 2**31 - 1, -(2**31)]
    wrap = lambda v, b: (v + (1 << (b - 1))) % (1 << b) - (1 << (b - 1))
    sat = lambda v, b: max(-(1 << (b - 1)), min((1 << (b - 1)) - 1, v))
    o = []
    for a, b in zip(x.tolist(), y.tolist()):
        ua, ub = a % 2**32, b % 2**32
        sa, sb = wrap(a, 16), wrap(b, 16)
        ca, cb = wrap(a, 8), wrap(b, 8)
        row = [
            32 - ua.bit_length(),
            bin(ua).count("1"),
            (a + b) >> 1,
            (a + b + 1) >> 1,
            sat(a + b, 32),
            sat(a - b, 32),
            wrap((ua << (ub % 32) | ua >> (32 - ub % 32)), 32),
            wrap(abs(a), 32),
            wrap(abs(a - b), 32),
            wrap((a * b) >> 32, 32),
            wrap((ua * ub) >> 32, 32),
            wrap(wrap(a, 24) * wrap(b, 24) + 5, 32),
            sat(a * b + 7, 32),
            wrap(sat(sa + sb, 16) << 16 | (sat(sa - sb, 16) % 65536), 32),
            wrap((sa << 16) | sb % 65536, 32),
            wrap(sat(ca + cb, 8) * 1000 + sat(ca - cb, 8), 32),
            wrap(max(0, ua % 256 - ub % 256) * 256 + min(255, ua % 256 + ub % 256), 32),
            8 - (ua % 256).bit_length() + 16 * (16 - (ua % 65536).bit_length()),
            min(max(a, -1000), 1000) + min(a, b) // 2**8 - max(ua, ub) // 2**8,
            wrap((a << 32 | ub) >> 37, 32),
        ]
        o.append([wrap(v, 32) for v in row])
    wide = []
    for a, b in zip(x.tolist(), y.tolist()):
        p, q = wrap(a * 0x100000001 + b, 64), wrap(b * 0x123456789 + a, 64)
        up_, uq = p % 2**64, q % 2**64
        k = uq % 64
        wide.append(
            [
                (p + q) >> 1,
                sat(p + q, 64),
                sat(p - q, 64),
                wrap((up_ << k | up_ >> (64 - k)) % 2**64, 64),
                wrap((p * q) >> 64, 64),
                64 - up_.bit_length() + 100 * bin(uq).count("1"),
                (abs(p) // abs(q)) * (1 if (p < 0) == (q < 0) else -1) if q else 0,
                wrap(up_ % (uq | 1), 64),
            ]
        )
    return (
        {"x": inp(x), "y": inp(y), "narrow": out(np.array(o, np.int32)), "wide": out(np.array(wide, np.int64))},
        [launch("narrow", [n], [32], "x", "y", "narrow"), launch("wide", [n], [16], "x", "y", "wide")],
        [],
    )
