"""Unions, packed structures, 3-component vectors in structures, program-scope variables and tables of pointers, Duff's device, irreducible loops, pointers to pointers."""

import struct

import numpy as np

from cases import inp, launch

SEED = 92
N, W = 64, 24


def make(r):
    a = r.integers(0, 1 << 30, N).astype(np.int32)
    out = np.zeros((N, W), np.int32)
    primes = [2, 3, 5, 7, 11, 13]

    def signed(v, bits):
        v &= (1 << bits) - 1
        return v - (1 << bits) if v >> (bits - 1) else v

    for i in range(N):
        v = int(a[i])
        o = out[i]
        # union: float bits, bytes
        f = struct.unpack("<I", struct.pack("<f", float(i) * 0.5))[0]
        o[0] = signed(f, 32)
        o[1] = (v >> 8) & 255
        # a packed structure: char, int, short
        o[2] = signed(v, 8) + (v >> 5) + signed(v >> 16, 16) + 7
        # structures with vectors
        o[3] = (i + 2) * 3 + (i + 1)
        o[4] = 16 * 3 + 0  # sizes
        o[5] = sum((i + k) * (k + 1) for k in range(3))
        # tables of pointers to constants
        o[6] = primes[i % 3] + primes[3 + i % 3]
        o[7] = ord("abc"[i % 3])
        # program-scope variables
        o[8] = 5
        o[9] = 17
        # Duff's device: sum of the first n
        n = v % 23
        o[10] = sum(int(a[k]) & 255 for k in range(n))
        # irreducible
        x, steps = v & 15, 0
        where = "left" if v & 1 else "right"
        while True:
            if where == "left":
                x += 3
                steps += 1
                if x > 40:
                    break
                where = "right"
            else:
                x += 5
                steps += 100
                if x > 50:
                    break
                where = "left"
        o[11] = x * 1000 + steps
        # switch with fall through
        s = 0
        for case in range(v % 5, 5):
            s += [1, 10, 100, 1000, 10000][case]
            if case == 2:
                break
        o[12] = s
        # vectors: double3, uchar16, half
        o[13] = 3 * i + 3
        o[14] = sum((v >> (8 * (k % 4)) & 255) for k in range(16))
        o[15] = i * 2 + 1
        o[16] = signed(v << 16 | (v >> 16 & 0xFFFF), 32)
        # nested local variables
        o[17] = int(a[(i ^ 1)]) ^ int(a[i ^ 2])
        # another kernel's function, a static helper, an inlined one
        o[18] = v + 1
        o[19] = (v & 0xFFFF) * 3 % 1000
        o[20] = sum(range(i % 7))
        o[21] = 7 + len("string")
        o[22] = (i % 4) * 11
        o[23] = (v + i) & 0x7FFF
    return (
        {
            "a": inp(a),
            "out": {"npy": np.zeros_like(out), "expect": out},
            "called": {"npy": np.zeros(N, np.int32), "expect": a + 1},
        },
        [launch("language", [N], [16], "a", "out", "called")],
        ["-DSEVEN=7", "-DTEXT=string"],
    )
