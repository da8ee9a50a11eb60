"""64-bit multiply, rotate, mul_hi, division."""

import numpy as np

from cases import given, launch

SEED = 17


def make(r):
    n = 333
    x = r.integers(0, 2**63, n).astype(np.uint64)
    mask = 2**64 - 1
    out = []
    for v in x.tolist():
        h = v
        for i in range(20):
            h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCD & mask
            h = ((h << 27) | (h >> 37)) & mask
            h = (h * 5 + 0x52DCE729 + i) & mask
            h ^= (h * v) >> 64 if False else (h * v & (2**128 - 1)) >> 64
        out.append(h % 1000003 + (h // 7 & 0xFFFFFFFF00000000))
    return {"x": given(x, np.array(out, np.uint64))}, [launch("hash64", [n], [37], "x")], []
