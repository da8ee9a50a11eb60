"""SHA3-256: 25 private words of 64 bits, rotations and places from tables in constant memory"""

import hashlib

import numpy as np

from cases import I, inp, launch, out

AFTER = "cryptographic suites"


def make(r):
    n = 21
    m = r.integers(0, 1 << 63, (n, 8)).astype(np.uint64)
    d = np.array([np.frombuffer(hashlib.sha3_256(x.astype("<u8").tobytes()).digest(), "<u8") for x in m])
    return {"messages": inp(m), "digests": out(d)}, [launch("sha3", [24], [8], "messages", "digests", I(n))], []
