"""Floats taken apart: fract, modf, frexp, ldexp, remquo, ilogb, nextafter, fmod, rounding functions; results through pointers."""

import numpy as np

from cases import inp, launch, out

AFTER = "all suites"


def make(r):
    n = 50
    x = (r.standard_normal(n) * 2.0 ** r.integers(-8, 12, n)).astype(np.float32)
    y = (r.uniform(0.5, 3, n) * 2.0 ** r.integers(-1, 2, n)).astype(np.float32)
    x[:6] = [0.5, 1.5, 2.5, -0.5, -2.5, 4096.0]
    X, Y = x.astype(np.float64), y.astype(np.float64)
    fl = np.floor(X)
    fract = np.minimum((X - fl).astype(np.float32), np.float32(1 - 2.0**-24))
    whole = np.trunc(X)
    m, e = np.frexp(X)
    q = np.rint(X / Y)
    assert (np.abs(np.abs((X / Y) % 1 - 0.5)) > 1e-9).all()
    rem = X - q * Y  # exact in float64: both are float32 and the quotient is small
    low = (np.sign(q) * (np.abs(q) % 128)).astype(np.int32)
    half_away = np.sign(X) * np.floor(np.abs(X) + 0.5)
    rows = np.stack(
        [
            fract,
            fl,
            X - whole,
            whole,
            m,
            rem,
            np.fmod(X, Y),
            np.ldexp(X, 3),
            np.nextafter(x, y),
            np.rint(X),
            half_away,
            np.ceil(X),
            np.copysign(Y, X),
            np.maximum(X - Y, 0).astype(np.float32),
            np.floor(np.log2(np.abs(X))),
            np.abs(X),
        ]
    ).astype(np.float32)
    return (
        {
            "x": inp(x),
            "y": inp(y),
            "out": out(rows),
            "exponents": out((e * 1000 + np.floor(np.log2(np.abs(X)))).astype(np.int32)),
            "quotients": out(low),
        },
        [launch("parts", [n], [25], "x", "y", "out", "exponents", "quotients")],
        [],
    )
