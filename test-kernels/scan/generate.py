"""Work-group prefix sum, three launches' worth of dependence, last warp partial."""

import numpy as np

from cases import UI, ceil, inp, launch, out


def make(r):
    n, group = 1234, 100
    v = r.integers(-(2**30), 2**30, n).astype(np.int32)
    want = np.cumsum(v.astype(np.int64)).astype(np.int32)
    size = ceil(n, group)
    padded = np.zeros(size, np.int64)
    padded[:n] = v
    totals = padded.reshape(-1, group).sum(axis=1).astype(np.int32)
    result = np.concatenate([want, np.zeros(7, np.int32)])  # what lies behind must stay as it was
    return (
        {"result": out(result), "totals": out(totals), "in": inp(v)},
        [
            launch("scan_groups", [size], [group], "in", "result", "totals", UI(n)),
            launch("add_totals", [size], [group], "result", "totals", UI(n)),
        ],
        [],
    )
