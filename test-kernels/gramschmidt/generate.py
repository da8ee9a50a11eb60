"""A norm by reduction in local memory, projections of the later columns; 27 launches."""

import numpy as np

from bounds import U64, E, sqrt, tree, zeros
from cases import I, launch, out

AFTER = "PolyBench gramschmidt"


def make(r):
    m, n = 21, 9
    a0 = r.standard_normal((m, n)) + 3 * np.eye(m, n)
    a, q, R = E(a0, u=U64), zeros(m, n, u=U64), zeros(n, n, u=U64)
    for k in range(n):
        parts = zeros(16, u=U64)
        for i in range(m):
            parts[i % 16] = parts[i % 16] + a[i, k] * a[i, k]
        R[k, k] = sqrt(tree(parts))
        q[:, k] = a[:, k] / R[k, k]
        s = zeros(n - k - 1, u=U64)
        for i in range(m):
            s = s + q[i, k] * a[i, k + 1 :]
        R[k, k + 1 :] = s
        a[:, k + 1 :] = a[:, k + 1 :] - q[:, k : k + 1] * s[None, :]
    launches = []
    for k in range(n):
        launches += [
            launch("norm", [16], [16], "a", "r", I(m), I(n), I(k)),
            launch("scale", [24], [12], "a", "r", "q", I(m), I(n), I(k)),
            launch("project", [9], [9], "a", "r", "q", I(m), I(n), I(k)),
        ]
    return {"a": out(a, init=a0), "q": out(q), "r": out(R)}, launches, []
