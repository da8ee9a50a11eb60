"""Image arithmetic on bytes and signed samples: clamping conversions, roundings, a power, sines, upper halves of products"""

import numpy as np

from cases import F, I, ceil, inp, launch, out


def make(r):
    n, w, h = 1003, 45, 17
    img = r.integers(0, 256, (n, 4)).astype(np.uint8)
    gamma, gain = np.float32(0.45), np.float32(1.25)
    c = (img / 255.0) ** float(gamma) * float(gain) * 255.0
    # No result lies so near to a half that single precision could round it the other way.
    near = np.abs(c - np.floor(c) - 0.5) < 1e-3
    img = np.where(near, 0, img).astype(np.uint8)
    toned = np.clip(np.rint((img / 255.0) ** float(gamma) * float(gain) * 255.0), 0, 255).astype(np.uint8)

    s = r.integers(-32768, 32768, (h, w)).astype(np.int16)
    s[3, 5:9] = [32767, -32768, 32767, -32768]
    bias = r.integers(-128, 128, (h, w)).astype(np.int8)
    v, x, y = s.astype(np.int64), np.arange(w), np.arange(h)
    before, behind, over = v[:, np.maximum(x - 1, 0)], v[:, np.minimum(x + 1, w - 1)], v[np.maximum(y - 1, 0)]
    across = np.clip(behind - before, -32768, 32767).astype(np.int16)
    halves = (np.maximum(v, before) + np.minimum(behind, over)) >> 1
    size = np.clip((np.abs(v - over) >> 4) + bias, 0, 255) ^ (halves & 255)

    p = np.stack([r.integers(-400, 400, n) / 64 + 1 / 1024, r.integers(-60000, 60000, n) / 16], 1).astype(np.float32)
    q = p.astype(np.float64)
    unit = q[:, 0] / np.sqrt(q[:, 0] ** 2 + 2.25)
    polar = np.stack([np.sin(q[:, 1]), np.cos(q[:, 1]), np.tanh(q[:, 0]), unit], 1).astype(np.float32)
    half_away = np.sign(q[:, 0]) * np.floor(np.abs(q[:, 0] * 2) + 0.5)
    cells = [np.floor(np.clip(q[:, 0], -2.5, 2.5) * 8), np.rint(q[:, 0] * 4), half_away, np.clip(np.trunc(q[:, 0] * 40), -128, 127)]

    a = r.integers(0, 1 << 64, n, dtype=np.uint64)
    mask = (1 << 64) - 1

    def signed(k, bits):
        return k - (1 << bits) if k >> (bits - 1) else k

    def turned(k, by, bits):
        by %= bits
        return (k << by | k >> (bits - by)) & ((1 << bits) - 1)

    def mixed(k, j):
        high = k * (j | 1) >> 64
        bits = (k & j) | (~k & mask & high)
        product = (signed(k, 64) * signed(j, 64) >> 64) & mask
        return turned(bits, k & 63, 64) ^ product ^ turned(j & 0xFFFFFFFF, high & 0xFFFFFFFF, 32)

    b = np.array([mixed(int(k), int(j)) for k, j in zip(a, a[::-1])], np.uint64)
    return (
        {
            "pixels": inp(img),
            "toned": out(toned),
            "samples": inp(s),
            "bias": inp(bias),
            "across": out(across),
            "size": out(size.astype(np.uint8)),
            "points": inp(p),
            "polar": out(polar, atol=5e-7),
            "cells": out(np.stack(cells, 1).astype(np.int32)),
            "words": inp(a),
            "mixed": out(b),
        },
        [
            launch("tone", [ceil(n, 64)], [64], "pixels", "toned", F(float(gamma)), F(float(gain)), I(n)),
            launch("slope", [ceil(w, 16), ceil(h, 4)], [16, 4], "samples", "across", "size", "bias", I(w), I(h)),
            launch("polar", [ceil(n, 64)], [64], "points", "polar", "cells", I(n)),
            launch("mix64", [ceil(n, 64)], [64], "words", "mixed", I(n)),
        ],
        [],
    )
