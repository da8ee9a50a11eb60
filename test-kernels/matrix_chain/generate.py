"""The order of a chain of products: a launch a span, 64-bit costs, shrinking launches"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "PolyBench nussinov"


def make(r):
    n, block = 26, 16
    sizes = r.integers(5, 5000, n + 1).astype(np.int32)
    cost, split = np.zeros((n, n), np.uint64), np.zeros((n, n), np.uint8)
    d = [int(s) for s in sizes]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            all_ = [int(cost[i, k]) + int(cost[k + 1, j]) + d[i] * d[k + 1] * d[j + 1] for k in range(i, j)]
            cost[i, j], split[i, j] = min(all_), i + int(np.argmin(all_))
    return (
        {"sizes": inp(sizes), "cost": out(cost), "split": out(split)},
        [launch("chain", [ceil(n - s, block)], [block], "sizes", "cost", "split", I(n), I(s)) for s in range(1, n)],
        [],
    )
