"""SHA-256 of one block: a rolling schedule in a private array, byte swaps by shuffles of uchar4."""

import hashlib
import struct

import numpy as np

from cases import inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 33
    lengths = r.integers(0, 56, n)
    blocks, digests = np.zeros((n, 64), np.uint8), np.zeros((n, 32), np.uint8)
    for i in range(n):
        m = r.integers(0, 256, lengths[i]).astype(np.uint8).tobytes()
        blocks[i] = np.frombuffer(m + b"\x80" + b"\0" * (55 - len(m)) + struct.pack(">Q", 8 * len(m)), np.uint8)
        digests[i] = np.frombuffer(hashlib.sha256(m).digest(), np.uint8)
    return {"blocks": inp(blocks), "digests": out(digests)}, [launch("sha256", [n], [11], "blocks", "digests")], []
