"""Work-group and sub-group functions, C11 and 64-bit atomics, `ctz`, `mad_hi`, half math."""

import numpy as np

SEED = 41


def make(r):
    n, size = 230, 50  # the last work-group is smaller
    x = r.integers(-(2**31), 2**31, n).astype(np.int32)
    x[:3] = 0, 1, -(2**31)
    buffers, launches = {}, []

    def buffer(name, array, expect):
        buffers[name] = {"npy": array, "expect": expect}
        return {"buffer": name}

    def launch(kernel, *args):
        launches.append({"kernel": kernel, "global": [n], "local": [size], "args": list(args)})

    def ctz(v, bits):
        v &= 2**bits - 1
        return bits if v == 0 else (v & -v).bit_length() - 1

    def wrap(v, bits=32):
        v &= 2**bits - 1
        return v - 2**bits if v >> (bits - 1) else v

    values = [int(v) for v in x]
    xs = buffer("x", x, x.copy())
    out = [[ctz(v, 32), ctz(v, 8), wrap((v << 20 >> 32) + 7), ctz(v, 16)] for v in values]
    wide = [(ctz((v & 0xFFFFFFFF) << 20, 64) + ((v & 0xFFFFFFFF) << 32) * (3 << 40) // 2**64 + 5) % 2**64 for v in values]
    launch(
        "integers",
        xs,
        buffer("out", np.zeros((n, 4), np.int32), np.array(out, np.int32)),
        buffer("wide", np.zeros(n, np.uint64), np.array(wide, np.uint64)),
    )
    sums = [wrap(sum(values)), max(values + [0]), 0, 0, n, 77]
    for v in values:
        sums[2] ^= v
        m = abs(v) % 1000
        sums[3] = max(sums[3], m * m)
    longs = [wrap(sum(v << 20 for v in values), 64), min([-(v << 31) for v in values] + [0]), n]
    launch(
        "atomics",
        xs,
        buffer("sums", np.zeros(6, np.int32), np.array([wrap(s) for s in sums], np.int32)),
        buffer("longs", np.zeros(3, np.int64), np.array([wrap(v, 64) for v in longs], np.int64)),
        buffer("flag", np.zeros(1, np.int32), np.ones(1, np.int32)),
    )
    got, f = [], []
    for start in range(0, n, size):
        g = [v >> 8 for v in values[start : start + size]]
        for i in range(len(g)):
            got.append(
                [
                    wrap(sum(g)),
                    max(g[: i + 1]),
                    wrap(sum(g[:i])),
                    g[5],
                    2 * any(v > 8000000 for v in g) + all(v > -9000000 for v in g),
                    min(g[:i] + [2**31 - 1]),
                ]
            )
            f.append(max(g))
    launch(
        "groups",
        xs,
        buffer("groups", np.zeros((n, 6), np.int32), np.array(got, np.int32)),
        buffer("f", np.zeros(n, np.float32), np.array(f, np.float32)),
    )
    launch("sub_groups", xs, buffer("ok", np.zeros(n, np.int32), np.full(n, 7, np.int32)))
    h = (r.random(n) * 20 - 10).astype(np.float16)
    h64 = h.astype(np.float64)
    root = np.sqrt(np.abs(h64)).astype(np.float16).astype(np.float64)
    fused = (h64 * 2 + root).astype(np.float16).astype(np.float64)
    launch("halves", buffer("h", h, (fused - np.floor(h64)).astype(np.float16)))
    return buffers, launches, []
