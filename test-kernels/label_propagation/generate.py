"""Connected components by pulling least labels; labels change places between launches"""

import numpy as np

from cases import I, ceil, inp, launch, out
from graphs import graph

AFTER = "graph suites"


def make(r):
    n, block = 210, 32
    edges, rows, cols = graph(r, n, 2, symmetric=True)
    label, rounds = np.arange(n), 0
    history = [label]
    while True:
        new = label.copy()
        for a, b in edges:
            new[a] = min(new[a], label[b])
        new = np.minimum(new, label[new])
        rounds += 1
        history.append(new)
        if (new == label).all():
            break
        label = new
    parent = list(range(n))

    def find(a):
        while parent[a] != a:
            a = parent[a]
        return a

    for a, b in edges:
        x, y = sorted((find(a), find(b)))
        parent[y] = x
    assert [find(v) for v in range(n)] == label.tolist() and rounds > 3
    last, before = history[rounds].astype(np.int32), history[rounds - 1].astype(np.int32)
    a, b = (last, before) if rounds % 2 == 0 else (before, last)
    pairs = [("a", "b"), ("b", "a")]
    return (
        {"rows": inp(rows), "columns": inp(cols), "a": out(a, init=np.arange(n)), "b": out(b)},
        [launch("pull", [ceil(n, block)], [block], "rows", "columns", *pairs[k % 2], I(n)) for k in range(rounds)],
        [],
    )
