"""Structures by value with nested structures, arrays, vectors and a union; their padding; packed ones."""

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
    p = (-5, 4_000_000_001, (250, 251, 252), (3, 65_533), -(1 << 50) + 77, 12.75, -1000.5)
    q = (1, 2, (3, 4, 5), (60_000, 7), (1 << 61) - 3, -2.5, 1e9)
    total = p[0] + p[1] + p[2][1] * p[3][1] + (p[4] ^ q[4]) + int(p[5] + q[5]) + int(q[6] - p[6])
    # A vector of three is as large as one of four.
    packed = lambda v: data("bI3Bx2Hqfd", v[0], v[1], *v[2], *v[3], *v[4:])
    return (
        {
            "x": inp(x),
            "whole": out(whole),
            "real": out(real),
            "bits": out(np.full(n, bits + 64, np.uint32)),
            "sums": out(total + np.array(q[3], np.int64)[np.arange(n) & 1]),
        },
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
            ),
            launch("unaligned", [n], [15], packed(p), "sums", packed(q)),
        ],
        [],
    )
