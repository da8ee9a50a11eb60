"""MD5 of one block: 64 rounds, constants and shifts in constant memory, a switch by round."""

import hashlib
import struct

import numpy as np

from cases import inp, launch, out

AFTER = "SHOC md5hash"


def make(r):
    n = 70
    lengths = r.integers(0, 56, n)
    blocks, digests = np.zeros((n, 64), np.uint8), np.zeros((n, 16), np.uint8)
    for i in range(n):
        m = r.integers(0, 256, lengths[i]).astype(np.uint8).tobytes()
        blocks[i] = np.frombuffer(m + b"\x80" + b"\0" * (55 - len(m)) + struct.pack("<Q", 8 * len(m)), np.uint8)
        digests[i] = np.frombuffer(hashlib.md5(m).digest(), np.uint8)
    return {"blocks": inp(blocks), "digests": out(digests)}, [launch("md5", [n], [35], "blocks", "digests")], []
