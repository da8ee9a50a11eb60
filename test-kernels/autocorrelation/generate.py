"""Autocorrelation of 16-bit samples: 64-bit sums, plain and by tiles of local memory"""

import numpy as np

from cases import I, L, ceil, inp, launch, out

AFTER = "signal processing"


def make(r):
    n, lags, block = 211, 70, 32
    x = r.integers(-32768, 32768, n).astype(np.int16)
    w = x.astype(np.int64)
    c = np.array([(w[: n - k] * w[k:]).sum() for k in range(lags)])
    size = [ceil(lags, block)]
    return (
        {"x": inp(x), "plain": out(c), "tiles": out(c)},
        [launch("plain", size, [block], "x", "plain", I(n), I(lags)), launch("tiles", size, [block], "x", "tiles", L(6 * block), I(n), I(lags))],
        [],
    )
