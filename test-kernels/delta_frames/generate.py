"""Deltas packed into bits: a structure a group, bit fields across words, zigzag signs, a scan in local memory"""

import numpy as np

from cases import I, inp, launch, out

AFTER = "codecs"


def make(r):
    frames, most = 12, 29
    table, words, values = [], [], np.zeros((frames, most), np.uint16)
    for g in range(frames):
        count, spread = int(r.integers(5, most + 1)), int(r.integers(1, 400))
        x = 20000 + np.cumsum(r.integers(-spread, spread + 1, count))
        values[g, :count] = x
        d = np.diff(x)
        zigzag = [int(v) * 2 if v >= 0 else -2 * int(v) - 1 for v in d]
        width = max(max(zigzag).bit_length(), 1)
        table.append((int(x[0]) | width << 16 | count << 24, len(words)))
        big = sum(v << (k * width) for k, v in enumerate(zigzag))
        words += [big >> 32 * k & 0xFFFFFFFF for k in range(-(-width * (count - 1) // 32) + 1)]
    return (
        {"frames": inp(np.array(table, np.uint32)), "words": inp(np.array(words, np.uint32)), "out": out(values)},
        [launch("unpack", [frames * most], [most], "frames", "words", "out", I(most))],
        [],
    )
