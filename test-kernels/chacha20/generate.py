"""ChaCha20: a block a work-item in 16 private words, rotations, bytes of a message whose last block is short"""

import struct

import numpy as np

from cases import I, UI, ceil, inp, launch, out

AFTER = "cryptographic suites"


def block(key, counter, nonce):
    s = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, counter, *nonce]
    x, mask = list(s), 0xFFFFFFFF
    rot = lambda v, n: ((v << n) | (v >> (32 - n))) & mask

    def quarter(a, b, c, d):
        for p, q, t, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & mask
            x[t] = rot(x[t] ^ x[p], n)

    for _ in range(10):
        for k in range(4):
            quarter(k, 4 + k, 8 + k, 12 + k)
        for k in range(4):
            quarter(k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4)
    return struct.pack("<16I", *((a + b) & mask for a, b in zip(x, s)))


def make(r):
    vector = block(struct.unpack("<8I", bytes(range(32))), 1, struct.unpack("<3I", bytes.fromhex("000000090000004a00000000")))
    assert vector[:16].hex() == "10f1e7e4d13b5915500fdd1fa32071c4"
    n, first = 2500, 7
    key, nonce = r.integers(0, 1 << 32, 8).astype(np.uint32), [int(v) for v in r.integers(0, 1 << 32, 3)]
    message = r.integers(0, 256, n).astype(np.uint8)
    stream = b"".join(block([int(k) for k in key], first + i, nonce) for i in range(ceil(n, 64) // 64))
    want = message ^ np.frombuffer(stream[:n], np.uint8)
    return (
        {"key": inp(key), "in": inp(message), "out": out(want)},
        [launch("encrypt", [48], [16], "key", "in", "out", UI(first), {"u32": nonce}, I(n))],
        [],
    )
