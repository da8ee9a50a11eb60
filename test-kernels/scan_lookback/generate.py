"""A prefix sum in one launch: groups take tickets and look back at their predecessors' published sums."""

import numpy as np

from cases import I, inp, launch, out, tmp

AFTER = "vendor samples"


def make(r):
    n, g = 1003, 64
    x = r.integers(-100, 100, n).astype(np.int32)
    groups = -(-n // g)
    return (
        {
            "in": inp(x),
            "out": out(np.cumsum(x).astype(np.int32)),
            "ticket": out(np.array([groups], np.int32), init=np.zeros(1)),
            "state": out(np.full(groups, 2, np.int32), init=np.zeros(groups)),
            "own": tmp("int32", groups),
            "upto": tmp("int32", groups),
        },
        [launch("scan", [groups * g], [g], "in", "out", "ticket", "state", "own", "upto", I(n))],
        [],
    )
