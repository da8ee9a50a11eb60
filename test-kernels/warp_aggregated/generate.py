"""One atomic a key and sub-group: ballots, votes and sums of the work-items that take part, in a divergent loop."""

import numpy as np

from cases import I, given, launch

SEED = 31


def make(r):
    n, keys = 1003, 7
    key = r.integers(0, keys, n).astype(np.int32)
    value = r.integers(-1000, 1000, n).astype(np.int32)
    count = np.bincount(key, minlength=keys).astype(np.int32)
    total = np.array([value[key == k].sum() for k in range(keys)], np.int32)
    # Work-items that end early take no part.
    highest = np.array([value[i // 4 * 4 : min(i // 4 * 4 + 4, n)].max() for i in range(n)], np.int32)
    return (
        {
            "key": given(key),
            "value": given(value),
            "count": given(np.zeros(keys, np.int32), count),
            "sum": given(np.zeros(keys, np.int32), total),
            "highest": given(np.zeros(n, np.int32), highest),
        },
        [launch("aggregate", [1024], [64], "key", "value", "count", "sum", "highest", I(n))],
        [],
    )
