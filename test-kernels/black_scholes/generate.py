"""Exp, log, sqrt, erf; an inlined helper function."""

import math

import numpy as np

from cases import I, given, launch

SEED = 15


def make(r):
    n = 500
    s, k, t = (r.uniform(a, b, n).astype(np.float32) for a, b in ((5, 30), (1, 100), (0.25, 10)))
    S, K, T = (v.astype(np.float64) for v in (s, k, t))
    d1 = (np.log(S / K) + (0.02 + 0.5 * 0.09) * T) / (0.3 * np.sqrt(T))
    d2 = d1 - 0.3 * np.sqrt(T)
    cnd = np.vectorize(lambda d: 0.5 * (1 + math.erf(d / math.sqrt(2))))
    call = (S * cnd(d1) - K * np.exp(-0.02 * T) * cnd(d2)).astype(np.float32)
    return (
        {"s": given(s), "k": given(k), "t": given(t), "call": given(np.zeros(n, np.float32), call, 1e-4, 1e-4)},
        [launch("black_scholes", [512], [64], "s", "k", "t", "call", I(n))],
        [],
    )
