"""Stream compaction: flags, work-group scan, one atomic a group for its place; order within a group kept."""

import numpy as np

from cases import I, inp, launch, out, tmp

AFTER = "SHOC, vendor samples"


def make(r):
    n, g = 430, 45
    x = r.integers(-100, 100, n).astype(np.int32)
    groups = -(-n // g)
    counts = np.array([(x[i * g : (i + 1) * g] > 20).sum() for i in range(groups)], np.int32)
    # Where a group's part begins depends on the order of groups; the host's second kernel puts the parts in order.
    return (
        {
            "in": inp(x),
            "parts": tmp("int32", n),
            "place": tmp("int32", groups, 2),
            "top": out(np.array([counts.sum()], np.int32), init=np.zeros(1)),
            "counts": out(counts),
            "out": out(np.concatenate([x[x > 20], np.zeros(n - counts.sum(), np.int32)]).astype(np.int32)),
        },
        [
            launch("compact", [groups * g], [g], "in", "parts", "place", "top", I(n)),
            launch("order", [groups * 20], [20], "parts", "place", "counts", "out"),
        ],
        [],
    )
