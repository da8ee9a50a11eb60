"""The wave equation on a membrane in double: three buffers in turn, ids as macros, 33 x 17"""

import numpy as np

from bounds import U64, E
from cases import D, I, ceil, launch, out


def make(r):
    w, h, c = 33, 17, 0.21
    first = np.zeros((h, w))
    first[1:-1, 1:-1] = r.uniform(-1, 1, (h - 2, w - 2))
    m = [E(first, u=U64), E(first, u=U64)]
    for _ in range(4):
        b, n = m[-2:]
        bend = n[1:-1, :-2] + n[1:-1, 2:] + n[:-2, 1:-1] + n[2:, 1:-1] - E(4.0, u=U64) * n[1:-1, 1:-1]
        a = E(np.zeros((h, w)), u=U64)
        inner = E(2.0, u=U64) * n[1:-1, 1:-1] - b[1:-1, 1:-1] + E(c, u=U64) * bend
        a.v[1:-1, 1:-1], a.e[1:-1, 1:-1] = inner.v, inner.e
        m.append(a)
    names, size = ["p", "q", "s"], [ceil(w, 16), ceil(h, 4)]
    launches = [launch("advance", size, [16, 4], *[names[(k + j) % 3] for j in range(3)], D(c), I(w), I(h)) for k in range(4)]
    # Moments 0 to 5 stand in p, q, s in turn.
    return {"p": out(m[3], init=first), "q": out(m[4], init=first), "s": out(m[5])}, launches, []
