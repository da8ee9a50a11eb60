"""Viterbi decoding: a step of the trellis a barrier, tables in constant memory, the path followed back by one work-item"""

import numpy as np

from cases import I, inp, launch, out, tmp


def make(r):
    states, symbols, length, count = 12, 5, 25, 4
    enter, emit = r.integers(-900, -10, (states, states)).astype(np.int16), r.integers(-600, -10, (states, symbols)).astype(np.int16)
    seen = r.integers(0, symbols, (count, length)).astype(np.uint8)
    path, score = np.zeros((count, length), np.uint8), np.zeros(count, np.int32)
    for g in range(count):
        s, back = emit[:, seen[g, 0]].astype(int), []
        for k in range(1, length):
            v = s[:, None] + enter
            back.append(v.argmax(0))
            s = v.max(0) + emit[:, seen[g, k]]
        at = int(s.argmax())
        score[g] = s[at]
        for k in range(length - 1, 0, -1):
            path[g, k] = at
            at = back[k - 1][at]
        path[g, 0] = at
    return (
        {
            "enter": inp(enter),
            "emit": inp(emit),
            "seen": inp(seen),
            "from": tmp("uint8", count, length, states),
            "path": out(path),
            "score": out(score),
        },
        [launch("decode", [count * states], [states], "enter", "emit", "seen", "from", "path", "score", I(length), I(symbols))],
        [],
    )
