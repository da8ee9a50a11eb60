"""Fourier transforms of eight points in registers, points far apart and in one piece"""

import numpy as np

from cases import I, ceil, f32, inp, launch, out

AFTER = "SHOC fft"


def make(r):
    n = 70
    x = f32(r, n, 8, 2)
    y = np.fft.fft(x[..., 0].astype(np.float64) + 1j * x[..., 1])
    want = np.stack([y.real, y.imag], -1).astype(np.float32)
    columns = lambda a: np.ascontiguousarray(a.transpose(1, 0, 2))
    # Three stages, one of them with products: at most 8 roundings each on sums of 16 numbers, and the root's own.
    bound = 3 * 8 * 2.0**-24 * np.abs(x).sum((1, 2)).max()
    size = [ceil(n, 24)]
    return (
        {"in": inp(x), "out": out(want, atol=float(bound)), "far": inp(columns(x)), "to": out(columns(want), atol=float(bound))},
        [launch("fft8", size, [24], "in", "out", I(n), I(1), I(8)), launch("fft8", size, [24], "far", "to", I(n), I(n), I(1))],
        [],
    )
