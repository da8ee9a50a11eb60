"""Local alignment with affine gaps: a pair of sequences a group, three diagonals in local memory"""

import numpy as np

from cases import I, inp, launch, out

AFTER = "bioinformatics suites"


def align(a, b, start, extend):
    m, n, low = len(a), len(b), -10000
    h, e, f = np.zeros((m + 1, n + 1), int), np.full((m + 1, n + 1), low), np.full((m + 1, n + 1), low)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            e[i, j] = max(e[i, j - 1] - extend, h[i, j - 1] - start)
            f[i, j] = max(f[i - 1, j] - extend, h[i - 1, j] - start)
            h[i, j] = max(0, h[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -2), e[i, j], f[i, j])
    return h.max()


def make(r):
    pairs, m, n = 5, 27, 45
    q, t = r.integers(0, 4, (pairs, m)).astype(np.uint8), r.integers(0, 4, (pairs, n)).astype(np.uint8)
    for k in range(pairs):
        t[k, 5 + k : 5 + k + 9], t[k, 16 + k : 16 + k + 8] = q[k, 2:11], q[k, 11:19]
    lengths = np.array([45, 30, 44, 12, 33], np.int32)
    score = np.array([align(a, b[:c], 4, 1) for a, b, c in zip(q, t, lengths)], np.int32)
    assert score.max() > 30
    return (
        {"queries": inp(q), "targets": inp(t), "lengths": inp(lengths), "score": out(score)},
        [launch("align", [pairs * m], [m], "queries", "targets", "lengths", "score", I(m), I(n), I(4), I(1))],
        [],
    )
