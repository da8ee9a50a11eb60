"""Base64 there and back: a string in constant memory, ranges of letters, a ragged end"""

import base64

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "codecs"


def make(r):
    n, block = 1000, 64
    x = r.integers(0, 256, n).astype(np.uint8)
    text = np.frombuffer(base64.b64encode(x.tobytes()), np.uint8)
    quads = len(text) // 4
    return (
        {"in": inp(x), "text": out(text), "back": out(x)},
        [
            launch("encode", [ceil(quads, block)], [block], "in", "text", I(n)),
            launch("decode", [ceil(quads, block)], [block], "text", "back", I(quads), I(n)),
        ],
        [],
    )
