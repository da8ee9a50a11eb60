"""Pi by darts: a xorshift generator a work-item, 64-bit squares, an atomic sum"""

import numpy as np

from cases import I, ceil, launch, out

AFTER = "Monte Carlo suites"


def make(r):
    n, throws = 140, 30
    start = r.integers(1, 1 << 32, n).astype(np.uint32)
    s, hits = start.astype(np.uint64), np.zeros(n, np.uint32)

    def step():
        nonlocal s
        for k in (13, -17, 5):
            s = (s ^ (s << np.uint64(k) if k > 0 else s >> np.uint64(-k))) & np.uint64(0xFFFFFFFF)
        return s >> np.uint64(1)

    for _ in range(throws):
        x, y = step(), step()
        hits += x * x + y * y < np.uint64(1 << 62)
    return (
        {"seeds": out(s.astype(np.uint32), init=start), "hits": out(hits), "total": out(np.array([hits.sum()], np.uint32))},
        [launch("darts", [ceil(n, 32)], [32], "seeds", "hits", "total", I(n), I(throws))],
        [],
    )
