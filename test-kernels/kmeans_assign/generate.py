"""Points that stream, centroids read at uniform indices and then gathered by membership."""

import numpy as np

from bounds import E, decided, zeros
from cases import I, f32, inp, launch, out

AFTER = "Rodinia kmeans"


def make(r):
    n, dims, k = 203, 11, 5
    p, c = f32(r, dims, n), f32(r, dims, k)
    dist = zeros(k, n)
    for j in range(dims):
        d = E(p[j])[None, :] - E(c[j])[:, None]
        dist = dist + d * d
    order = np.argsort(dist.v, 0)
    first, second = (
        E(np.take_along_axis(dist.v, order[i : i + 1], 0), np.take_along_axis(dist.e, order[i : i + 1], 0)) for i in (0, 1)
    )
    decided(first - second)
    member = order[0].astype(np.int32)
    residual = E(p) - E(c[:, member])
    return (
        {"points": inp(p), "centroids": inp(c), "member": out(member), "distance": out(first[0]), "residual": out(residual)},
        [
            launch("assign", [210], [42], "points", "centroids", "member", "distance", I(n), I(dims)),
            launch("lookup", [210], [70], "points", "centroids", "member", "residual", I(n), I(dims)),
        ],
        ["-DK=5"],
    )
