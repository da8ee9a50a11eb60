"""Structures by value with nested structures, arrays, vectors and a union; their padding."""

import struct

import numpy as np

from cases import data, inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 45
    x = r.integers(-1000, 1000, n).astype(np.int32)
    scale, table, tag, bias, quad, big = 3, [5, -7, 11], 200, [10, -20], [1.5, -2.0, 0.25, 8.0], (1 << 40) + 3
    t = np.array(table)
    whole = (x.astype(np.int64) * scale + t[np.arange(n) % 3] + tag + np.array(bias)[np.arange(n) & 1]) * 4 + big
    real = np.array([quad[i % 4] * 2 for i in range(n)], np.float32)
    bits = struct.unpack("<I", struct.pack("<f", 1.0))[0]
    return (
        {"x": inp(x), "whole": out(whole), "real": out(real), "bits": out(np.full(n, bits + 64, np.uint32))},
        [
            launch(
                "use",
                [n],
                [15],
                "x",
                "whole",
                "real",
                "bits",
                data("bx3hBx6x2i8x4ff4xq", scale, *table, tag, *bias, *quad, 1.0, big),
                data("bx3hBx", 0, 0, 0, 0, 0),
            )
        ],
        [],
    )
