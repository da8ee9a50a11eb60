"""Four passes of a radix sort with payload: digit counts, a scan of the table, a stable scatter."""

import numpy as np

from cases import I, launch, out, tmp

AFTER = "SHOC sort, vendor samples"


def make(r):
    n, threads = 499, 48
    keys = r.integers(0, 1 << 16, n).astype(np.uint32)
    keys[::7] = keys[3]
    order = np.argsort(keys, kind="stable")
    launches = []
    for p in range(4):
        a, b = ("keys", "other") if p % 2 == 0 else ("other", "keys")
        launches += [
            launch("count", [threads], [24], a, "table", I(n), I(4 * p)),
            launch("scan", [64], [64], "table", I(16 * threads)),
            launch("scatter", [threads], [16], a, b, "table", I(n), I(4 * p)),
        ]
    pairs = np.stack([keys, np.arange(n, dtype=np.uint32)], 1)
    return (
        {"keys": out(pairs[order], init=pairs), "other": tmp("uint32", n, 2), "table": tmp("uint32", 16 * threads)},
        launches,
        [],
    )
