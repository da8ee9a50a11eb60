"""Graph colouring by priorities: a vertex waits for its neighbours; sets of colours as 64-bit words"""

import numpy as np

from cases import I, ceil, inp, launch, out
from graphs import graph

AFTER = "graph suites"


def make(r):
    n, block = 150, 25
    edges, rows, cols = graph(r, n, 6, symmetric=True)
    priority = r.permutation(n).astype(np.uint32)
    near = [[b for a, b in edges if a == v] for v in range(n)]
    colours, rounds = [-1] * n, 0
    while -1 in colours:
        old, rounds = list(colours), rounds + 1
        for v in range(n):
            above = [w for w in near[v] if priority[w] > priority[v]]
            if old[v] < 0 and all(old[w] >= 0 for w in above):
                colours[v] = min(set(range(64)) - {old[w] for w in above})
    greedy = [-1] * n
    for v in np.argsort(-priority.astype(np.int64)).tolist():
        greedy[v] = min(set(range(64)) - {greedy[w] for w in near[v]})
    assert colours == greedy and rounds > 4
    pairs = [("a", "b"), ("b", "a")]
    size = [ceil(n, block)]
    launches = [launch("colour", size, [block], "rows", "columns", "priority", *pairs[k % 2], I(n)) for k in range(rounds + 1)]
    done = np.array(greedy, np.int32)
    empty = np.full(n, -1, np.int32)
    return (
        {"rows": inp(rows), "columns": inp(cols), "priority": inp(priority), "a": out(done, init=empty), "b": out(done, init=empty)},
        launches,
        [],
    )
