"""Packed structures by value: fields that begin at any byte of a word."""

import numpy as np

from cases import data, launch, out


def make(r):
    n = 45
    p = (-5, 4_000_000_001, (250, 251, 252), (3, 65_533), -(1 << 50) + 77, 12.75, -1000.5)
    q = (1, 2, (3, 4, 5), (60_000, 7), (1 << 61) - 3, -2.5, 1e9)
    total = p[0] + p[1] + p[2][1] * p[3][1] + (p[4] ^ q[4]) + int(p[5] + q[5]) + int(q[6] - p[6])
    # A vector of three is as large as one of four.
    packed = lambda v: data("bI3Bx2Hqfd", v[0], v[1], *v[2], *v[3], *v[4:])
    sums = total + np.array(q[3], np.int64)[np.arange(n) & 1]
    return {"sums": out(sums)}, [launch("unaligned", [n], [15], packed(p), "sums", packed(q))], []
