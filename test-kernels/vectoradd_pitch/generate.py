"""2-D pitched addresses, float4, pitches as arguments (G-ex1); partial warps."""

import numpy as np

from cases import I, f32, inp, launch, out


def make(r):
    w, h, wa, wb, wc = 40, 12, 47, 49, 41
    a = f32(r, h + 2, wa, 4)
    b = f32(r, h + 3, wb, 4)
    want = np.zeros((h, wc, 4), np.float32)
    for y in range(h):
        for x in range(w):
            # As the kernel indexes: the linear index may run past a row's end.
            ia, ib = (y + 2) * wa + x + 5, (y + 3) * wb + x + 6
            want[y, x] = a.reshape(-1, 4)[ia].astype(np.float64) + b.reshape(-1, 4)[ib]
    return (
        {"A": inp(a), "B": inp(b), "C": out(want)},
        [launch("VectorAdd", [w, h], [20, 3], "A", "B", "C", I(wa), I(wb), I(wc))],
        [],
    )
