"""Connected components: labels hook by atomic minimum and jump pointers in loops."""

import numpy as np

from cases import I, ceil, inp, launch, out
from graphs import graph

AFTER = "graph suites"


def make(r):
    n = 210
    edges, _, _ = graph(r, n, 3)
    edges = [e for e in edges if r.random() < 0.7]
    label = list(range(n))

    def find(v):
        while label[v] != v:
            v = label[v]
        return v

    for a, b in edges:
        a, b = find(a), find(b)
        label[max(a, b)] = min(a, b)
    want = np.array([find(v) for v in range(n)], np.int32)
    e = np.array(edges, np.int32)
    launches = [launch("start", [n], [42], "label")]
    for _ in range(5):
        launches += [launch("hook", [ceil(len(e), 40)], [40], "edges", "label", I(len(e))), launch("jump", [n], [30], "label")]
    return {"edges": inp(e), "label": out(want)}, launches, []
