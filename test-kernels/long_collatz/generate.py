"""Loops that end lane by lane on 64-bit integers"""

import numpy as np

from cases import I, ceil, inp, launch, out


def make(r):
    n, most = 75, 150
    start = r.integers(1, 1 << 24, n).astype(np.uint64)
    start[:9] = np.arange(1, 10)
    steps, peak = [], []
    for v in start.tolist():
        k, top = 0, v
        while v != 1 and k < most:
            v = 3 * v + 1 if v & 1 else v >> 1
            top, k = max(top, v), k + 1
        steps.append(k)
        peak.append(top)
    assert most in steps and min(steps) < 60
    return (
        {"start": inp(start), "steps": out(np.array(steps, np.int32)), "peak": out(np.array(peak, np.uint64))},
        [launch("collatz", [ceil(n, 25)], [25], "start", "steps", "peak", I(n), I(most))],
        [],
    )
