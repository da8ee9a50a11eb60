"""The knapsack problem: a launch an item over all capacities, then the choices by one work-item"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "dynamic programming suites"


def make(r):
    items, capacity, block = 14, 140, 48
    w, v = r.integers(3, 40, items).astype(np.int32), r.integers(1, 100, items).astype(np.int32)
    best, taken, history = np.zeros(capacity + 1, np.int32), [], []
    for k in range(items):
        with_ = np.full(capacity + 1, -1, np.int32)
        with_[w[k] :] = best[: capacity + 1 - w[k]] + v[k]
        taken.append(with_ > best)
        best = np.maximum(best, with_)
        history.append(best)
    chosen, c = np.zeros(items, np.int32), capacity
    for k in reversed(range(items)):
        chosen[k] = taken[k][c]
        c -= w[k] * chosen[k]
    size = [ceil(capacity + 1, block)]
    launches = []
    for k in range(items):
        pair = ("a", "b") if k % 2 == 0 else ("b", "a")
        launches.append(launch("item", size, [block], *pair, "taken", I(k), I(w[k]), I(v[k]), I(capacity)))
    launches.append(launch("trace", [1], [1], "taken", "weights", "chosen", I(items), I(capacity)))
    return (
        {
            "a": out(history[-1]),
            "b": out(history[-2]),
            "taken": out(np.array(taken, np.uint8)),
            "weights": inp(w),
            "chosen": out(chosen),
        },
        launches,
        [],
    )
