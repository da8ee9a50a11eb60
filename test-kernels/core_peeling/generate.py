"""The cores of a graph: vertices leave by degree, atomics in local decisions, many launches on few work-items"""

import numpy as np

from cases import I, ceil, inp, launch, out, tmp
from graphs import graph

AFTER = "graph suites"


def make(r):
    n, block = 110, 32
    edges, rows, cols = graph(r, n, 6, symmetric=True)
    near = [[b for a, b in edges if a == v] for v in range(n)]
    degree, core, plan = [len(x) for x in near], [-1] * n, []
    k = 1
    while -1 in core:
        # Whatever order vertices leave in, this many rounds are enough for all that leave at k.
        rounds = 0
        while True:
            leaving = [v for v in range(n) if core[v] < 0 and degree[v] < k]
            for v in leaving:
                core[v] = k - 1
                for w in near[v]:
                    degree[w] -= 1
            rounds += 1
            if not leaving:
                break
        plan += [k] * rounds
        k += 1
    assert k > 4
    return (
        {
            "rows": inp(rows),
            "columns": inp(cols),
            "degree": {"npy": np.array([len(x) for x in near], np.int32)},
            "core": out(np.array(core, np.int32), init=np.full(n, -1)),
            "left": tmp("int32", len(plan)),
        },
        [launch("peel", [ceil(n, block)], [block], "rows", "columns", "degree", "core", "left", I(n), I(k), I(i)) for i, k in enumerate(plan)],
        [],
    )
