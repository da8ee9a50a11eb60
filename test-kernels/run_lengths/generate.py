"""Run lengths there and back: flags, scans by group, a scatter, binary search; 700 bytes"""

import itertools

import numpy as np

from cases import I, ceil, inp, launch, out, tmp

AFTER = "codecs"


def make(r):
    n, block = 700, 48
    x = np.repeat(r.integers(0, 4, n), r.integers(1, 9, n))[:n].astype(np.uint8)
    runs = [(k, len(list(g))) for k, g in itertools.groupby(x.tolist())]
    values, starts = np.zeros(n, np.uint8), np.zeros(n + 1, np.int32)
    values[: len(runs)] = [k for k, _ in runs]
    starts[1 : len(runs) + 1] = np.cumsum([c for _, c in runs])
    size = [ceil(n, block)]
    return (
        {
            "in": inp(x),
            "place": tmp("int32", n),
            "counts": tmp("int32", size[0] // block),
            "values": out(values),
            "from": out(starts),
            "runs": out(np.array([len(runs)], np.int32)),
            "back": out(x),
        },
        [
            launch("heads", size, [block], "in", "place", "counts", I(n)),
            launch("starts", size, [block], "in", "place", "counts", "values", "from", "runs", I(n)),
            launch("expand", size, [block], "values", "from", "runs", "back", I(n)),
        ],
        [],
    )
