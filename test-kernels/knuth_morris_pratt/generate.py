"""Strings by Knuth, Morris and Pratt: a table made in local memory, bytes, loops of uneven length"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "string suites"


def make(r):
    n, piece = 900, 17
    text = r.choice([97, 98], n, p=[0.7, 0.3]).astype(np.uint8)
    pattern = np.frombuffer(b"aabaaba", np.uint8)
    m, found = len(pattern), np.zeros(n, np.uint8)
    s = text.tobytes()
    for k in range(n - m + 1):
        found[k] = s[k : k + m] == pattern.tobytes()
    assert found.sum() > 9
    pieces = -(-n // piece)
    return (
        {"pattern": inp(pattern.copy()), "text": inp(text), "found": out(found), "count": out(np.array([found.sum()], np.int32))},
        [launch("find", [ceil(pieces, 16)], [16], "pattern", "text", "found", "count", I(m), I(n), I(piece))],
        [],
    )
