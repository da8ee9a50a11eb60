"""Attention that looks back: scores, a soft maximum that is mended on the way, values in private memory; loops of different length"""

import numpy as np

from bounds import E, exp, maximum, stack, zeros
from cases import I, ceil, f32, inp, launch, nearest, out

AFTER = "machine learning layers"


def make(r):
    n, d = 45, 8
    q, k, v = f32(r, n, d), f32(r, n, d), f32(r, n, d)
    scale = nearest(8**-0.5)
    rows = []
    for i in range(n):
        most, total, s = None, E(0.0), zeros(d)
        for j in range(i + 1):
            score = E(0.0)
            for c in range(d):
                score = score + E(q[i, c]) * E(k[j, c])
            score = score * E(scale["f32"])
            larger = score if most is None else maximum(most, score)
            old = E(0.0) if most is None else exp(most - larger)
            now = exp(score - larger)
            total = total * old + now
            s = s * old + now * E(v[j])
            most = larger
        rows.append(s / total)
    return (
        {"q": inp(q), "k": inp(k), "v": inp(v), "out": out(stack(rows))},
        [launch("attend", [ceil(n, 16)], [16], "q", "k", "v", "out", I(n), scale)],
        [],
    )
