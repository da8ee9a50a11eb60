"""Merging two sorted arrays: every work-item finds its diagonal and merges a run."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    a, b = np.sort(r.integers(-300, 300, 151)).astype(np.int16), np.sort(r.integers(-200, 400, 110)).astype(np.int16)
    # Which array each result comes from: on equal keys a goes first.
    merged = np.concatenate([a, b])
    order = np.argsort(merged, kind="stable")
    return (
        {"a": inp(a), "b": inp(b), "out": out(merged[order]), "from_b": out((order >= len(a)).astype(np.uint8))},
        [launch("merge", [40], [20], "a", "b", "out", "from_b", I(len(a)), I(len(b)))],
        [],
    )
