"""AES-128: S-box in constant memory, rows shifted through local memory, uchar arithmetic."""

import numpy as np

from cases import inp, launch, out

AFTER = "vendor samples"


def cipher():
    """The S-box, and AES-128 encryption of a block (columns of bytes)."""

    def times(a, b):
        p = 0
        while b:
            p ^= a if b & 1 else 0
            a, b = (a << 1) ^ (0x11B if a & 0x80 else 0), b >> 1
        return p

    box = []
    for x in range(256):
        v = next((y for y in range(256) if times(x, y) == 1), 0)
        box.append(v ^ 0x63)
        for k in range(1, 5):
            box[-1] ^= (v << k | v >> (8 - k)) & 255

    def schedule(key):
        w, rcon = [list(key[4 * i : 4 * i + 4]) for i in range(4)], 1
        for i in range(4, 44):
            t = list(w[-1])
            if i % 4 == 0:
                t = [box[b] for b in t[1:] + t[:1]]
                t[0] ^= rcon
                rcon = times(rcon, 2)
            w.append([a ^ b for a, b in zip(w[i - 4], t)])
        return [b for c in w for b in c]

    def encrypt(block, keys):
        s = [a ^ b for a, b in zip(block, keys)]
        for round_ in range(1, 11):
            s = [box[s[(i + 4 * (i % 4)) % 16]] for i in range(16)]
            if round_ < 10:
                s = [
                    times(s[i], 2)
                    ^ times(s[i // 4 * 4 + (i + 1) % 4], 3)
                    ^ s[i // 4 * 4 + (i + 2) % 4]
                    ^ s[i // 4 * 4 + (i + 3) % 4]
                    for i in range(16)
                ]
            s = [a ^ b for a, b in zip(s, keys[16 * round_ :])]
        return s

    # FIPS 197, appendix C.1.
    assert (
        bytes(encrypt(bytes.fromhex("00112233445566778899aabbccddeeff"), schedule(bytes(range(16))))).hex()
        == "69c4e0d86a7b0430d8cdb78070b4c55a"
    )
    return box, schedule, encrypt


def make(r):
    box, schedule, encrypt = cipher()
    n = 12
    keys = schedule(r.integers(0, 256, 16).tolist())
    blocks = r.integers(0, 256, (n, 16)).astype(np.uint8)
    done = np.array([encrypt(b.tolist(), keys) for b in blocks], np.uint8)
    return (
        {"blocks": inp(blocks), "keys": inp(np.array(keys, np.uint8)), "out": out(done)},
        [launch("encrypt", [16, n], [16, 4], "blocks", "keys", "out")],
        [],
    )
