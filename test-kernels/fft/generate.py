"""Stockham transform in local memory, sine and cosine."""

import numpy as np

from cases import given, launch

SEED = 14


def make(r):
    n = 256
    x = (r.standard_normal((n, 2))).astype(np.float32)
    y = np.fft.fft(x[:, 0].astype(np.float64) + 1j * x[:, 1])
    out = np.stack([y.real, y.imag], 1).astype(np.float32)
    return {"x": given(x), "y": given(np.zeros((n, 2), np.float32), out, 1e-4, 1e-3)}, [launch("fft", [128], [128], "x", "y")], []
