"""Merging runs of pairs by binary search, a launch each doubling; 333 keys with repetitions, stable"""

import numpy as np

from cases import I, ceil, launch, out

AFTER = "sorting suites"


def make(r):
    n, block = 333, 32
    keys = r.integers(-40, 40, n)
    x = np.stack([keys, np.arange(n)], 1).astype(np.int32)
    runs = [1 << k for k in range(9)]
    history = [x]
    for run in runs:
        now = history[-1].copy()
        for f in range(0, n, 2 * run):
            part = now[f : f + 2 * run]
            now[f : f + 2 * run] = part[np.argsort(part[:, 0], kind="stable")]
        history.append(now)
    assert (history[-1] == x[np.argsort(keys, kind="stable")]).all()
    pairs = [("a", "b"), ("b", "a")]
    launches = [launch("merge", [ceil(n, block)], [block], *pairs[k % 2], I(n), I(run)) for k, run in enumerate(runs)]
    return {"a": out(history[8], init=x), "b": out(history[9])}, launches, []
