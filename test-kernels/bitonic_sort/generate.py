"""45 launches on one buffer; a network in local memory with barriers in nested loops."""

import numpy as np

from cases import UI, L, f32, launch, out


def make(r):
    n = 512
    keys = r.choice(2**32, n, replace=False).astype(np.uint32)
    order = np.argsort(keys)
    launches = [
        launch("bitonic_step", [n // 2], [64], "keys", "values", UI(stage), UI(step))
        for stage in range(9)
        for step in range(stage + 1)
    ]
    data = f32(r, 3, 128, low=-1000, high=1000)
    launches.append(launch("bitonic_local", [3 * 50], [50], "data", L(128 * 4), UI(128)))
    return (
        {
            "keys": out(keys[order], keys),
            "values": out(order.astype(np.uint32), np.arange(n)),
            "data": out(np.sort(data, axis=1), data),
        },
        launches,
        [],
    )
