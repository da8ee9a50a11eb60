"""Points by rows, one a work-item, walked again for every centroid"""

import numpy as np

from bounds import E, decided, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "Rodinia kmeans"


def make(r):
    n, k, dims = 117, 6, 13
    p, c = f32(r, n, dims), f32(r, k, dims)
    dist = zeros(k, n)
    for j in range(dims):
        d = E(p[:, j])[None, :] - E(c[:, j])[:, None]
        dist = dist + d * d
    order = np.argsort(dist.v, 0)
    first, second = (
        E(np.take_along_axis(dist.v, order[i : i + 1], 0), np.take_along_axis(dist.e, order[i : i + 1], 0)) for i in (0, 1)
    )
    decided(first - second)
    return (
        {"points": inp(p), "centroids": inp(c), "member": out(order[0].astype(np.int32)), "distance": out(first[0])},
        [launch("assign", [ceil(n, 32)], [32], "points", "centroids", "member", "distance", I(n), I(k), I(dims))],
        [],
    )
