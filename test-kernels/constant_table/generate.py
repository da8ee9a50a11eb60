"""Program-scope constants, a private array with a computed index."""

import numpy as np

from cases import given, launch


def make(r):
    table = [1.5, -2.25, 3.0, 0.5, 7.0, -1.0, 0.25, 9.5]
    idx = np.random.default_rng(21).integers(0, 8, 100).astype(np.int32)
    out = np.array([table[i] * 2 + [10, 20, 30, 40][i & 3] for i in idx], np.float32)
    private = np.array([sum(((k * k + int(i)) % 13) * (k == (int(i) + 3) % 8) for k in range(8)) for i in idx], np.int32)
    return (
        {"idx": given(idx), "out": given(np.zeros(100, np.float32), out), "priv": given(np.zeros(100, np.int32), private)},
        [launch("lookup", [100], [50], "idx", "out", "priv")],
        [],
    )
