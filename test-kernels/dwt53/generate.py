"""Reversible 5/3 wavelet by integer lifting: rows in local memory, then columns."""

import numpy as np

from cases import I, L, inp, launch, out

AFTER = "Rodinia dwt2d"


def make(r):
    w, h = 50, 28
    a0 = r.integers(-128, 128, (h, w)).astype(np.int32)

    def forward(x):
        x = x.astype(np.int64)
        even, odd = x[0::2].copy(), x[1::2].copy()
        following = np.concatenate([even[1:], even[-1:]])
        odd -= (even + following) >> 1
        before = np.concatenate([odd[:1], odd[:-1]])
        even += (before + odd + 2) >> 2
        return np.concatenate([even, odd])

    rows = forward(a0.T).T
    a = forward(rows).astype(np.int32)
    return (
        {"in": inp(a0), "rows": out(rows.astype(np.int32)), "out": out(a)},
        [
            launch("lift", [h * w // 2], [w // 2], "in", "rows", L(4 * w), I(w), I(1), I(w)),
            launch("lift", [w * h // 2], [h // 2], "rows", "out", L(4 * h), I(h), I(w), I(1)),
        ],
        [],
    )
