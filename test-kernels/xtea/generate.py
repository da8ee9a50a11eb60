"""XTEA in chains of blocks there, and all blocks at once back; uniform table look-ups at computed indices"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "cryptographic suites"


def make(r):
    chains, length, mask = 37, 3, 0xFFFFFFFF
    key, start = [int(v) for v in r.integers(0, 1 << 32, 4)], [int(v) for v in r.integers(0, 1 << 31, 2)]
    plain = r.integers(0, 1 << 32, (chains, length, 2)).astype(np.uint32)
    data = np.zeros_like(plain)
    mix = lambda v: (((v << 4) & mask ^ v >> 5) + v) & mask
    for i in range(chains):
        last = [(start[0] + i) & mask, start[1]]
        for k in range(length):
            x, y, s = int(plain[i, k, 0]) ^ last[0], int(plain[i, k, 1]) ^ last[1], 0
            for _ in range(32):
                x = (x + (mix(y) ^ (s + key[s & 3]) & mask)) & mask
                s = (s + 0x9E3779B9) & mask
                y = (y + (mix(x) ^ (s + key[s >> 11 & 3]) & mask)) & mask
            last = data[i, k] = [x, y]
            last = [x, y]
    return (
        {"data": out(data, init=plain), "plain": out(plain), "key": inp(np.array(key, np.uint32))},
        [
            launch("encrypt", [ceil(chains, 16)], [16], "data", "key", I(chains), I(length), {"u32": start}),
            launch("decrypt", [ceil(chains * length, 16)], [16], "data", "plain", "key", I(chains * length), I(length), {"u32": start}),
        ],
        [],
    )
