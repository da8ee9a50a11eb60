"""2-D neighbourhood, divergent border, ping-pong launches."""

import numpy as np

from bounds import U32
from cases import I, f32, launch, nearest, out


def make(r):
    w, h = 66, 50
    wc, we, wd = (np.float32(v) for v in (0.5, 0.1, 0.025))
    a = f32(r, h, w)

    def sweep(s):
        d = s.copy()
        m = s[1:-1, 1:-1]
        edges = s[1:-1, :-2] + s[1:-1, 2:] + s[:-2, 1:-1] + s[2:, 1:-1]
        corners = s[:-2, :-2] + s[:-2, 2:] + s[2:, :-2] + s[2:, 2:]
        d[1:-1, 1:-1] = float(wc) * m + float(we) * edges + float(wd) * corners
        return d

    one = sweep(a.astype(np.float64))
    two = sweep(one)
    rest = [I(w), I(h), nearest(wc), nearest(we), nearest(wd)]
    # A sweep rounds each term at most 7 times; its weights sum to 1, so the second sweep passes the first one's error on.
    return (
        {"a": out(two.astype(np.float32), a, 14 * U32), "b": out(one.astype(np.float32), atol=7 * U32)},
        [launch("stencil", [w, h], [11, 5], "a", "b", *rest), launch("stencil", [w, h], [11, 5], "b", "a", *rest)],
        [],
    )
