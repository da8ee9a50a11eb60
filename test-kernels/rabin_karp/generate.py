"""Strings by rolling hashes: remainders, several patterns, checks only where hashes agree, the first place by atomics"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "string suites"


def make(r):
    n, m, count, piece, prime = 800, 6, 5, 25, 1000003
    text = r.integers(97, 101, n).astype(np.uint8)
    patterns = np.stack([text[k : k + m] for k in (11, 250, 520, 700)] + [np.full(m, 122, np.uint8)])
    hash_ = lambda b: int.from_bytes(b.tobytes(), "big") % prime
    hashes = np.array([hash_(p) for p in patterns], np.uint32)
    s = text.tobytes()
    places = [s.find(p.tobytes()) for p in patterns]
    first = np.array([p if p >= 0 else 1 << 30 for p in places], np.int32)
    checks = sum(int((hashes == hash_(text[k : k + m])).sum()) for k in range(n - m + 1))
    return (
        {
            "patterns": inp(patterns),
            "hashes": inp(hashes),
            "text": inp(text),
            "first": out(first, init=np.full(count, 1 << 30)),
            "checks": out(np.array([checks], np.int32)),
        },
        [launch("find", [ceil(-(-n // piece), 8)], [8], "patterns", "hashes", "text", "first", "checks", I(count), I(m), I(n), I(piece))],
        [],
    )
