"""Random graphs by rows."""

import numpy as np


def graph(r, n, most, symmetric=False):
    edges = {(int(a), int(b)) for a in range(n) for b in r.integers(0, n, r.integers(0, most)) if a != b}
    if symmetric:
        edges |= {(b, a) for a, b in edges}
    edges = sorted(edges)
    rows = np.concatenate([[0], np.cumsum(np.bincount([a for a, _ in edges], minlength=n))]).astype(np.int32)
    return edges, rows, np.array([b for _, b in edges], np.int32)
