"""Checksums of lines of different length and of a text by pieces: remainders, 64-bit products"""

import zlib

import numpy as np

from cases import I, ceil, inp, launch, out


def make(r):
    count, piece = 70, 37
    start = np.concatenate([[0], np.cumsum(r.integers(0, 45, count))]).astype(np.int32)
    n = int(start[-1])
    text = r.integers(0, 256, n).astype(np.uint8)
    adler, fnv = [], []
    for a, b in zip(start, start[1:]):
        adler.append(zlib.adler32(text[a:b].tobytes()))
        h = 0xCBF29CE484222325
        for c in text[a:b].tolist():
            h = (h ^ c) * 0x100000001B3 % (1 << 64)
        fnv.append(h)
    sums = []
    for f in range(0, n, piece):
        part = [int(c) for c in text[f : f + piece]]
        sums.append((sum(part) % 65521, sum((n - f - k) * c for k, c in enumerate(part)) % 65521))
    a, b = sum(s for s, _ in sums), sum(s for _, s in sums)
    assert ((b + n) % 65521) << 16 | (a + 1) % 65521 == zlib.adler32(text.tobytes())
    return (
        {
            "text": inp(text),
            "start": inp(start),
            "adler": out(np.array(adler, np.uint32)),
            "fnv": out(np.array(fnv, np.uint64)),
            "sums": out(np.array(sums, np.uint32)),
        },
        [
            launch("lines", [ceil(count, 24)], [24], "text", "start", "adler", "fnv", I(count)),
            launch("pieces", [ceil(len(sums), 16)], [16], "text", "sums", I(n), I(piece)),
        ],
        [],
    )
