"""A float sum by compare-and-swap, exact in any order; every integer atomic, local and global."""

import numpy as np

from cases import inp, launch, out

AFTER = "SHOC, vendor samples"


def make(r):
    n = 170
    x = r.integers(-40, 40, n).astype(np.int32)
    u = (x + 64).astype(np.uint32)
    fsum = np.array([x[i::3].sum() * 0.25 for i in range(3)], np.float32)
    ands = int(np.bitwise_and.reduce(u | 0xFFFFFF80))
    want = np.array(
        [
            x.sum(),
            -x.sum(),
            x.min(),
            x.max(),
            n,
            -n,
            ands - 2**32,
            int(np.bitwise_or.reduce(u)),
            int(np.bitwise_xor.reduce(u)),
            1,
        ],
        np.int32,
    )
    local = np.array([x[i : i + 34].max() * 1000 + x[i : i + 34].min() for i in range(0, n, 34)], np.int32)
    return (
        {
            "x": inp(x),
            "sums": out(fsum),
            "o": out(np.append(want, 1).astype(np.int32), init=[0, 0, 2**31 - 1, -(2**31), 0, 0, -1, 0, 0, 0, 0]),
            "groups": out(local),
        },
        [launch("every", [n], [34], "x", "sums", "o", "groups")],
        [],
    )
