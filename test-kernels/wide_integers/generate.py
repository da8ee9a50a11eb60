"""128-bit integers: what LLVM makes of vectors read as other vectors."""

import numpy as np

from cases import UI, launch

SEED = 128
N, W, CHOSEN = 67, 24, 11
M = (1 << 128) - 1
PATTERN = 0x0123456789ABCDEF << 64 | 0xFEDCBA9876543210


def make(r):
    words = r.integers(0, 1 << 32, (N, 4), dtype=np.uint64).astype(np.uint32)
    words[5] = words[4]
    words[9, 2:] = words[8, 2:]
    words[12, 1:] = 0
    words[20] = 0
    words[21] = 0xFFFFFFFF

    def signed(x, bits):
        x &= (1 << bits) - 1
        return x - (1 << bits) if x >> (bits - 1) else x

    values = [int.from_bytes(row.astype("<u4").tobytes(), "little") for row in words]
    out = np.zeros((N, W, 4), np.uint32)
    for n, a in enumerate(values):
        b = values[(n + 1) % N]
        total = a
        for _ in range(n % 5):
            total = (total << 9 & M) ^ b
        picked = bytearray(((a << 24 | a >> 104) & M).to_bytes(16, "little"))
        picked[CHOSEN % 16] = a.to_bytes(16, "little")[5]
        row = [
            a << 1,
            a << 40,
            a << 64,
            a << 101,
            a >> 7,
            a >> 32,
            a >> 75,
            signed(a, 128) >> 33,
            signed(a, 128) >> 127,
            (a & PATTERN) | (b ^ ~PATTERN & M),
            signed(a, 32),
            (a >> 32 & 0xFFFFFFFF) << 60 | b >> 90,
            signed(a >> 50, 16),
            PATTERN if a == b else b if a >> 64 != b >> 64 else a,
            total,
            int.from_bytes(picked, "little"),
            (b if n + CHOSEN & 1 else a) >> 16,
            (a >> 127) << 126,
            int(a == a & 0xFFFFFFFF) | (a >> 68 & 0xFF) << 8,
            PATTERN,
            a + b,
            a - b,
            a + 1 - PATTERN,
        ]
        p, q = signed(a, 128), signed(b, 128)
        out[n, 23] = [(a < b) + 2 * (a <= b), (a > PATTERN) + 2 * (a >= b), (p < q) + 2 * (p <= -5), (p > q) + 2 * (p >= q)]
        for k, x in enumerate(row):
            out[n, k] = np.frombuffer((x & M).to_bytes(16, "little"), "<u4")
    return (
        {"in": {"npy": words}, "out": {"zeros": [N, W, 4], "dtype": "uint32", "expect": out}},
        [launch("wide_integers", [N], [N], "in", "out", UI(CHOSEN))],
        [],
    )
