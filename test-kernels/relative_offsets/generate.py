"""References as 64-bit distances from where they stand, which lead down from pointers into the middle of buffers; sums there; a loop down to the first element"""

import numpy as np

from cases import I, inp, launch, out

MASK = 0xFFFFFFFF


def make(r):
    n, items, below = 16, 160, 96
    records = np.zeros((n, 4), np.int32)
    records[:, 0] = r.integers(0, 3, n)
    records[:, 1:] = r.integers(-1000, 1000, (n, 3))
    # Some records lie behind the table.
    before = n - 3
    order = r.permutation(n)
    start = 16 * n
    buffer = np.zeros(start + 8 * n + 16 * 3, np.uint8)
    buffer[: 16 * n].view(np.int32)[:] = records.ravel()
    buffer[start + 8 * n :].view(np.int32)[:] = records[before:].ravel()
    places = [16 * k if k < before else start + 8 * n + 16 * (k - before) for k in order]
    table = buffer[start : start + 8 * n].view(np.int64)
    for e, place in enumerate(places):
        table[e] = place - (start + 8 * e)
    words = [int(w) for w in buffer[:start].view(np.int32)]
    of = [[int(v) for v in records[k]] for k in order]
    result = []
    for i in range(items):
        x = i * 2654435761 & MASK
        for kind, a, b, _ in of:
            if kind == 0:
                x = x * a + b & MASK
            elif kind == 1:
                x ^= x >> (a & 31)
            else:
                x = x + b & MASK
        x = x + (of[x % n][1] if x & 64 else int(records[n - 1 - i % n][1])) & MASK
        for k in range(i % 7):
            x = x * 31 + words[-1 - k] & MASK
        result.append(x)
    counts = np.zeros(96, np.int32)
    for i in range(items):
        counts[32 + i % 24 - 8] += i
        counts[32 - 9] += 3
    hashes = []
    for i in range(items):
        x = i
        for word in reversed(buffer.view(np.int32)):
            x = (x * 33 & MASK) ^ (int(word) & MASK)
        hashes.append(x)
    return (
        {
            "graph": inp(buffer),
            "result": out(np.array(result, np.uint32).view(np.int32)),
            "counts": out(counts),
            "hash": out(np.array(hashes, np.uint32)),
        },
        [
            launch("follow", [items], [32], {"buffer": "graph", "offset": start}, I(n), {"buffer": "result", "offset": 4 * below}, I(below)),
            launch("count", [items], [32], {"buffer": "counts", "offset": 128}),
            launch("backward", [items], [32], "graph", I(len(buffer) // 4), "hash"),
        ],
        [],
    )
