"""Switch on data in a loop."""

import numpy as np

from cases import I, given, launch

SEED = 20


def make(r):
    n, steps = 130, 60
    text = r.integers(0, 12, (n, steps)).astype(np.uint8)
    out = np.zeros(n, np.int32)
    for g in range(n):
        state, acc = 0, 1
        for c in text[g].tolist():
            if state == 0:
                state = 1 if c < 4 else 2 if c == 7 else 0
                acc += c
            elif state == 1:
                state = 3 if c & 1 else 1
                acc = acc * 3 + 1
            elif state == 2:
                acc ^= c << 3
                state = 5 if c > 9 else 4
            elif state == 3:
                acc -= 7
                state = 0 if acc % 2 == 0 else 4
            elif state == 4:
                state = c % 6
            else:
                acc = acc // 2 if acc >= 0 else -((-acc) // 2)
                break
            acc = (acc + 2**31) % 2**32 - 2**31
        out[g] = acc * 8 + state if abs(acc) < 2**27 else state
    return (
        {"text": given(text), "out": given(np.zeros(n, np.int32), out)},
        [launch("machine", [n], [26], "text", "out", I(steps))],
        [],
    )
