"""Sobol numbers by Gray code: find-first-set, direction numbers, unsigned to float."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    dims, n = 3, 300
    # Primitive polynomials and starting numbers of dimensions 2 and 3.
    v = np.zeros((dims, 32), np.uint64)
    v[0] = [1 << (31 - i) for i in range(32)]
    for d, (s, a, m) in ((1, (1, 0, [1])), (2, (2, 1, [1, 3]))):
        m = list(m)
        for i in range(s, 32):
            x = m[i - s] ^ (m[i - s] << s)
            for k in range(1, s):
                x ^= ((a >> (s - 1 - k)) & 1) * (m[i - k] << k)
            m.append(x)
        v[d] = [m[i] << (31 - i) for i in range(32)]
    v = v.astype(np.uint32)
    x = np.zeros((dims, n), np.uint32)
    for i in range(n):
        gray = i ^ (i >> 1)
        for k in range(32):
            if gray >> k & 1:
                x[:, i] ^= v[:, k]
    return (
        {"directions": inp(v), "bits": out(x), "points": out(x.astype(np.float32) * np.float32(2.0**-32))},
        [launch("sobol", [320, dims], [20, 1], "directions", "bits", "points", I(n))],
        [],
    )
