"""Dynamic time warping of a pattern with many windows: a row of the table in private memory a work-item"""

import numpy as np

from cases import I, ceil, inp, launch, out


def make(r):
    m, windows, step = 19, 75, 3
    p = r.integers(-500, 500, m).astype(np.int16)
    s = r.integers(-500, 500, windows * step + m).astype(np.int16)
    result = []
    for w in range(windows):
        d = np.full((m + 1, m + 1), (1 << 31) - 1, np.int64)
        d[0, 0] = 0
        for i in range(m):
            for j in range(m):
                d[i + 1, j + 1] = abs(int(p[i]) - int(s[w * step + j])) + min(d[i, j], d[i, j + 1], d[i + 1, j])
        result.append(d[m, m])
    return (
        {"pattern": inp(p), "signal": inp(s), "distance": out(np.array(result, np.uint32))},
        [launch("warp", [ceil(windows, 20)], [20], "pattern", "signal", "distance", I(m), I(windows), I(step))],
        [],
    )
