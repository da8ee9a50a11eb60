"""Edit distance by bit vectors in 64 bits: carries of additions, a table of masks in local memory."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "bioinformatics suites"


def make(r):
    n, plen = 36, 45
    pattern = r.integers(0, 4, plen).astype(np.uint8)
    lengths = r.integers(20, 50, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    text = r.integers(0, 4, starts[-1]).astype(np.uint8)
    text[starts[3] : starts[4]] = np.resize(pattern, lengths[3])

    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, c in enumerate(a):
            new = [i + 1]
            for j, d in enumerate(b):
                new.append(min(row[j] + (c != d), row[j + 1] + 1, new[-1] + 1))
            row = new
        return row[-1]

    want = np.array([distance(pattern.tolist(), text[starts[i] : starts[i + 1]].tolist()) for i in range(n)], np.int32)
    return (
        {"pattern": inp(pattern), "text": inp(text), "starts": inp(starts), "distance": out(want)},
        [launch("edit", [n], [12], "pattern", "text", "starts", "distance", I(plen))],
        [],
    )
