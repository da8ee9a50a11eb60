"""Barriers in a uniform loop, double-precision division and square root."""

import numpy as np

from cases import I, given, launch

SEED = 16


def make(r):
    n = 24
    m = r.standard_normal((n, n))
    a = m @ m.T + n * np.eye(n)
    return {"a": given(a, np.linalg.cholesky(a), 1e-11, 1e-11)}, [launch("cholesky", [40], [40], "a", I(n))], []
