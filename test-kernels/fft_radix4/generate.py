"""Fourier transforms by stages of radix 4 through global memory, sinpi and cospi"""

import numpy as np

from cases import I, f32, inp, launch, out

AFTER = "SHOC fft, vendor samples"


def make(r):
    n, count = 64, 5
    x = f32(r, count, n, 2)
    y = np.fft.fft(x[..., 0].astype(np.float64) + 1j * x[..., 1])
    want = np.stack([y.real, y.imag], -1).astype(np.float32)
    steps = [launch("stage", [count * n // 4], [16], *ab, I(n), I(p)) for ab, p in [(("in", "a"), 1), (("a", "b"), 4), (("b", "a"), 16)]]
    # Three stages of at most 8 roundings on values below 2 * 64, twiddles of 4 ulp, cubed.
    bound = 3 * 24 * 2.0**-24 * np.abs(x).sum((1, 2)).max()
    return {"in": inp(x), "a": out(want, atol=float(bound)), "b": {"zeros": list(x.shape), "dtype": "float32"}}, steps, []
