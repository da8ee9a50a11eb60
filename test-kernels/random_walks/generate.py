"""Random walks between walls: xorshift generators, remainders, atomics on visited cells, walkers that die"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "Monte Carlo suites"


def make(r):
    n, w, h, steps = 90, 23, 17, 40
    seeds, wall = r.integers(1, 1 << 32, n).astype(np.uint32), (r.random((h, w)) < 0.2).astype(np.uint8)
    visits, last = np.zeros((h, w), np.uint32), np.zeros((n, 2), np.uint16)
    for i in range(n):
        s = int(seeds[i])

        def draw():
            nonlocal s
            s ^= s << 13 & 0xFFFFFFFF
            s ^= s >> 17
            s ^= s << 5 & 0xFFFFFFFF
            return s

        x, y = draw() % w, draw() % h
        for _ in range(steps):
            d = draw() >> 29
            u, v = (x + (d == 0) - (d == 1)) % w, (y + (d == 2) - (d == 3)) % h
            if not wall[v, u]:
                x, y = u, v
            visits[y, x] += 1
            if d == 7 and s & 15 == 0:
                break
        last[i] = x, y
    return (
        {"seeds": inp(seeds), "wall": inp(wall), "visits": out(visits), "last": out(last)},
        [launch("walk", [ceil(n, 32)], [32], "seeds", "wall", "visits", "last", I(n), I(w), I(h), I(steps))],
        [],
    )
