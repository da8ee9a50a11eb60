"""A number as a regular expression, by a table of states in constant memory: the first and longest match of a line"""

import re

import numpy as np

from cases import I, UI, ceil, inp, launch, out

AFTER = "string suites"


def make(r):
    # -?[0-9]+(\.[0-9]+)?: classes are other, minus, digit, dot; states are dead, start, minus, digits, dot, fraction.
    table = np.zeros((6, 4), np.uint8)
    table[1, 1], table[1, 2], table[2, 2], table[3, 2], table[3, 3], table[4, 2], table[5, 2] = 2, 3, 3, 3, 4, 5, 5
    kinds = np.zeros(256, np.uint8)
    kinds[ord("-")], kinds[48:58], kinds[ord(".")] = 1, 2, 3
    letters = np.frombuffer(b"ab -.0123456789", np.uint8)
    lines = [r.choice(letters, int(k), p=[0.21, 0.21, 0.2, 0.08, 0.1] + [0.02] * 10) for k in r.integers(0, 30, 80)]
    start = np.concatenate([[0], np.cumsum([len(x) for x in lines])]).astype(np.int32)
    found = []
    for x in lines:
        m = re.search(rb"-?[0-9]+(\.[0-9]+)?", x.tobytes())
        found.append((m.start(), m.end() - m.start()) if m else (-1, 0))
    assert {f[0] < 0 for f in found} == {True, False} and max(f[1] for f in found) > 3
    return (
        {
            "table": inp(table),
            "kinds": inp(kinds),
            "text": inp(np.concatenate(lines)),
            "start": inp(start),
            "found": out(np.array(found, np.int32)),
        },
        [launch("match", [ceil(80, 32)], [32], "table", "kinds", "text", "start", "found", I(80), I(4), UI(0b101000))],
        [],
    )
