"""Divisions by zero, whose results count where the divisor is another number only."""

import numpy as np

from cases import I, inp, launch, out


def quotient(x, y, otherwise):
    """Truncated towards zero."""
    safe = np.where(y == 0, 1, y)
    q = np.abs(x) // np.abs(safe)
    return np.where(y == 0, otherwise, np.where((x < 0) != (safe < 0), -q, q))


def remainder(x, y, otherwise):
    """Of the sign of the dividend."""
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, otherwise, x - quotient(x, safe, 0) * safe)


def make(r):
    n, steps = 128, 20
    a = r.integers(-(1 << 30), 1 << 30, n).astype(np.int32)
    b = np.where(r.random(n) < 0.4, 0, r.integers(-300, 300, n)).astype(np.int32)
    b[1::16] = 256
    a[::32], b[::32] = np.iinfo(np.int32).min, 1
    x, y = a.astype(np.int64), b.astype(np.int64)
    each = [np.stack([quotient(x, y, -77), remainder(x, y, 1000), quotient(x, np.full(n, s), x ^ 5)], 1) for s in (0, -13)]
    ux = (x.astype(np.uint64) * np.uint64(0x123456789)).astype(np.uint64)
    uy = (y & 0xFF).astype(np.uint64)
    none, safe = uy == 0, np.where(uy == 0, np.uint64(1), uy)
    sx, sy = (v.astype(np.int16).astype(np.int64) for v in (a, b))
    cx, cy = (v.astype(np.uint8).astype(np.int64) for v in (a, b))
    widths = np.stack([
        quotient(x << 20, y, -1),
        np.where(none, np.int64(-2), (ux // safe).astype(np.int64)),
        np.where(none, np.int64(-3), (ux % safe).astype(np.int64)),
        quotient(sx, sy, -4),
        remainder(cx, cy, -5),
    ], 1)
    wide = np.where(b == 0, np.int32(1), b).view(np.uint32)
    both = quotient(x, y, 0).astype(np.int32) ^ (a.view(np.uint32) % wide).view(np.int32)
    table = r.integers(0, 1000, 16).astype(np.int32)
    sums = np.zeros(n, np.int32)
    with np.errstate(over="ignore"):
        for k in range(steps):
            d = (b + np.int32(k)).view(np.uint32) & np.uint32(15)
            at_least = np.maximum(d, np.uint32(1))
            place = (a + np.int32(7 * k)).view(np.uint32) % at_least
            part = (a.view(np.uint32) & np.uint32(0xFFF)) // at_least
            sums = sums * np.int32(3) + np.where(d == 0, np.int32(k), table[place] + part.astype(np.int32))
    buffers = {
        "a": inp(a),
        "b": inp(b),
        "table": inp(table),
        "by_zero": out(each[0].astype(np.int32)),
        "by_thirteen": out(each[1].astype(np.int32)),
        "widths": out(widths.astype(np.int64)),
        "vectors": out(np.where(b == 0, np.int32(-9), both)),
        "sums": out(sums),
    }
    launches = [
        launch("each", [n], [32], "a", "b", "by_zero", I(0)),
        launch("each", [n], [32], "a", "b", "by_thirteen", I(-13)),
        launch("widths", [n], [32], "a", "b", "widths"),
        launch("vectors", [n // 4], [32], "a", "b", "vectors"),
        launch("looked_up", [n], [32], "a", "b", "table", "sums", I(steps)),
    ]
    return buffers, launches, []
