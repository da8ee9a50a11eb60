"""Goldens of kernels about warps, blocks, templates and classes, as in `goldens.py`."""

import numpy as np

from bounds import U32
from cases import I, data, f32, inp, launch, nearest, out, tmp


def signed(v):
    return (v + 2**31) % 2**32 - 2**31


def warp_sums(r):
    n, block, grid = 3001, 128, 5
    a = r.integers(-(2**31), 2**31, n, dtype=np.int64)
    places = np.arange(n) // block % grid
    sums = np.array([a[places == g].sum() for g in range(grid)]) & 0xFFFFFFFF
    each = a[:256].reshape(-1, 32).sum(1) & 0xFFFFFFFF
    return (
        {
            "in": inp(a.astype(np.int32)),
            "sums": out(sums.astype(np.uint32).view(np.int32)),
            "spread": out(np.repeat(each, 32).astype(np.uint32).view(np.int32)),
        },
        [launch("block_sums", [grid * block], [block], "in", "sums", I(n)), launch("spread", [256], [64], "in", "spread")],
        [],
    )


def ballot_order(r):
    n, block, least = 1000, 96, 40
    a = r.integers(0, 100, n).astype(np.int32)
    a[64:96] = 0  # a warp that keeps nothing
    padded = np.full(1056, least - 1, np.int32)
    padded[:n] = a
    rows = padded.reshape(-1, 32) >= least
    count = np.where(rows.any(1), rows.sum(1) * 100 + rows.argmax(1), 0)
    kept = np.zeros(1056, np.int32)
    kept[: (a >= least).sum()] = a[a >= least]
    return (
        {
            "in": inp(a),
            "parts": tmp(np.int32, 1056),
            "start": tmp(np.int32, 33),
            "count": out(count.astype(np.int32)),
            "top": out(np.array([(a >= least).sum()], np.int32)),
            "out": out(kept),
        },
        [
            launch("keep", [1056], [block], "in", "parts", "start", "count", "top", I(n), I(least)),
            launch("order", [33 * 32], [32], "parts", "start", "count", "out"),
        ],
        [],
    )


def scan_warp_types(r):
    blocks, block = 3, 160
    narrow = r.integers(-1000, 1000, blocks * block).astype(np.int32)
    wide = r.integers(-(2**40), 2**40, blocks * block)
    real = r.integers(-(2**20), 2**20, blocks * block) / 4.0  # sums are exact
    buffers, launches = {}, []
    for name, a in (("int", narrow), ("long", wide), ("double", real)):
        sums = np.cumsum(a.reshape(blocks, block), axis=1, dtype=a.dtype)
        buffers |= {f"{name}_in": inp(a), f"{name}_out": out(sums.ravel()), f"{name}_totals": out(sums[:, -1].copy())}
        launches.append(launch(f"scan_{name}", [blocks * block], [block], f"{name}_in", f"{name}_out", f"{name}_totals"))
    return buffers, launches, []


def votes_partners(r):
    block, limit = 96, 20
    a = r.integers(0, 100, 4 * block)
    a[:32] = 90
    a[32:64] = 3
    a[block : 2 * block] = 70
    a[2 * block : 3 * block] = 7
    over = a > limit
    warps, blocks = over.reshape(-1, 32), over.reshape(-1, block)
    keys = r.integers(0, 6, 64)
    rows = keys.reshape(-1, 32)
    same = ((rows[:, :, None] == rows[:, None, :]) << np.arange(32)).sum(2)
    odd = ((rows > 2) & (np.arange(32) % 2 == 1)) << np.arange(32)
    odd = np.where(np.arange(32) % 2 == 1, odd.sum(1)[:, None], 0)
    return (
        {
            "in": inp(a.astype(np.int32)),
            "warps": out((warps.any(1) + 2 * warps.all(1)).astype(np.int32)),
            "blocks": out((blocks.sum(1) * 4 + blocks.any(1) + 2 * blocks.all(1)).astype(np.int32)),
            "keys": inp(keys.astype(np.int32)),
            "same": out(same.ravel().astype(np.uint32)),
            "odd": out(odd.ravel().astype(np.uint32)),
        },
        [
            launch("votes", [4 * block], [block], "in", "warps", "blocks", I(limit)),
            launch("partners", [64], [64], "keys", "same", "odd"),
        ],
        [],
    )


def atomics_shared(r):
    n = 700
    a = r.integers(-5000, 5000, n)
    words = a & 0xFFFFFFFF
    integers = [a.sum(), -a.sum(), min(a.min(), 0), max(a.max(), 0), (a & 3).sum()]
    down = 0
    for _ in range(n):
        down = 10 if down == 0 or down > 10 else down - 1
    masks = [np.bitwise_and.reduce(words), np.bitwise_or.reduce(words), np.bitwise_xor.reduce(words), n % 7, down, 1, 77]
    start = np.zeros(7, np.uint32)
    start[0] = 0xFFFFFFFF
    wide = np.array([(int(a.sum()) << 20) % 2**64, int(words.max()) << 3], np.uint64)
    return (
        {
            "in": inp(a.astype(np.int32)),
            "integers": out(np.array(integers, np.int32)),
            "words": out(np.array(masks, np.uint32), start),
            "wide": out(wide),
            "sum": out(np.array([a.sum() / 4], np.float32)),
            "total": out(np.array([a.sum() / 4])),
        },
        [launch("all", [768], [128], "in", "integers", "words", "wide", "sum", "total", I(n))],
        [],
    )


def intrinsics(r):
    n = 70
    a, b = (r.integers(-(2**31), 2**31, n) for _ in range(2))
    a[:4], b[:4] = [0, 1, -1, -(2**31)], [-1, 0, -(2**31), 2**31 - 1]
    wide = [int(v) for v in r.integers(0, 2**63, n)]
    wide[0] = 0
    rows, wides = [], []
    for x, y, w in zip(a.tolist(), b.tolist(), wide):
        u, v = x % 2**32, y % 2**32
        low = lambda s: (s % 2**24 + 2**23) % 2**24 - 2**23
        four = (v << 32 | u).to_bytes(8, "little")
        rows.append(
            [
                32 - u.bit_length(),
                (u & -u).bit_length(),
                u.bit_count(),
                int(f"{u:032b}"[::-1], 2),
                x * y >> 32,
                u * v >> 32,
                low(x) * low(y),
                abs(x - y) + 5,
                int.from_bytes(bytes(four[k] for k in (4, 1, 2, 5)), "little"),
                x + y >> 1,
                v << 7 | u >> 25,
                abs(x) + min(x, y) - max(x, y),
            ]
        )
        other = w ^ 0x0123456789ABCDEF
        wides.append([64 - w.bit_length(), (w & -w).bit_length(), w.bit_count(), int(f"{w:064b}"[::-1], 2), w * other >> 64])
    f = r.uniform(-100, 100, n).astype(np.float32)
    f[:8] = [0.5, 1.5, -0.5, -1.5, 2.5, -0.0, 0.0, 7.0]
    d = f.astype(np.float64)
    limited = np.clip(f, np.float32(-2.5), np.float32(2.5))
    columns = [
        f.view(np.int32),
        np.rint(d),
        np.trunc(d),
        np.ceil(d),
        np.floor(d),
        (-f).view(np.int32),
        np.rint(d) - np.trunc(d) + np.signbit(d),
        limited.view(np.int32),
    ]
    return (
        {
            "a": inp(a.astype(np.int32)),
            "b": inp(b.astype(np.int32)),
            "wide": inp(np.array(wide, np.uint64)),
            "out": out(np.array([[signed(v) for v in row] for row in rows], np.int32)),
            "out_wide": out(np.array(wides, np.uint64)),
            "f": inp(f),
            "out_f": out(np.stack(columns, 1).astype(np.int64).astype(np.int32)),
        },
        [
            launch("integers", [96], [32], "a", "b", "wide", "out", "out_wide", I(n)),
            launch("floats", [96], [32], "f", "out_f", I(n)),
        ],
        [],
    )


def reduce_operations(r):
    n = 999
    a = r.integers(-1000, 1000, n)
    d = r.uniform(-5, 5, n)
    places = lambda block, grid: np.arange(n) // block % grid
    sums = np.array([a[places(64, 3) == g].sum() for g in range(3)], np.int32)
    most = np.array([d[places(128, 2) == g].max() for g in range(2)])
    f = (r.integers(-64, 64, 100) / 8).astype(np.float32)
    return (
        {
            "a": inp(a.astype(np.int32)),
            "sums": out(sums),
            "d": inp(d),
            "most": out(most),
            "f": out(f * np.float32(2.5), f),
        },
        [
            launch("reduce<int, Sum, 64>", [3 * 64], [64], "a", "sums", I(n)) | {"shared": 64 * 4},
            launch("reduce<double, Maximum, 128>", [2 * 128], [128], "d", "most", I(n)) | {"shared": 128 * 8},
            launch("scale<float>", [128], [32], "f", nearest(np.float32(2.5)), I(100)),
        ],
        [],
    )


def matmul_shared(r):
    m, k, n = 37, 29, 43
    a, b = f32(r, m, k), f32(r, k, n)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # Tiles are padded with zeros; each sum rounds its products and additions once each.
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    bound = float(size.max()) * (32 + 2) * U32
    buffers = {"a": inp(a), "b": inp(b)}
    launches = []
    for tile in (8, 16):
        buffers[f"c{tile}"] = out(exact.astype(np.float32), atol=bound)
        up = lambda v: (v + tile - 1) // tile * tile
        launches.append(
            launch(f"product_{tile}", [up(n), up(m)], [tile, tile], "a", "b", f"c{tile}", I(m), I(k), I(n)) | {"shared": 8 * tile * tile}
        )
    return buffers, launches, []


def blur_constant(r):
    w, h = 45, 37
    a = r.integers(0, 256, (h, w)).astype(np.uint8)
    row = np.array([1, 2, 3, 2, 1])
    padded = np.pad(a.astype(np.int64), 2, mode="edge")
    total = sum(row[j] * row[i] * padded[j : j + h, i : i + w] for j in range(5) for i in range(5))
    blurred = (total // 81).astype(np.uint8)
    levels = np.array([10, 60, 150, 240], np.uint8)
    return (
        {"in": inp(a), "out": out(blurred), "four": out(levels[blurred >> 6])},
        [launch("blur", [48, 48], [16, 16], "in", "out", "four", I(w), I(h))],
        [],
    )


def vector_classes(r):
    n = 200
    p = r.uniform(0, 1, (n, 3)).astype(np.float32)
    middle = (p.astype(np.float64) + [0.25, 0.5, 0.75]) * 0.5
    ball = np.sqrt(((middle - 0.5) ** 2).sum(1)) - 0.25
    plane = middle[:, 2] - 0.125
    # Coordinates are rounded once on the way to `middle` (half of up to 2), differences below 1 once more, so that a squared
    # distance of up to 1.5 carries at most 8 roundings; distances are not so close to 0 that the root makes more of them.
    assert np.sqrt(((middle - 0.5) ** 2).sum(1)).min() > 0.02
    bound = 16 * U32
    return (
        {
            "points": inp(p),
            "ball": out(ball.astype(np.float32), atol=bound),
            "plane": out(plane.astype(np.float32), atol=bound),
            "both": out(np.minimum(ball, plane).astype(np.float32), atol=bound),
        },
        [launch("distances", [256], [64], "points", "ball", "plane", "both", I(n))],
        [],
    )


def bitonic_exchange(r):
    n = 210
    keys = r.integers(0, 50, n).astype(np.uint32)
    keys[:4] = [0xFFFFFFFF, 0, 0xFFFFFFFF, 7]
    order = [np.argsort(keys[k : k + 32], kind="stable") for k in range(0, n, 32)]
    done = [keys[k : k + 32][o] for k, o in zip(range(0, n, 32), order)]
    return (
        {"keys": out(np.concatenate(done), keys), "places": out(np.concatenate(order).astype(np.int32))},
        [launch("sort", [256], [64], "keys", "places", I(n))],
        [],
    )


def blocks_3d(r):
    grid, block = (2, 3, 2), (4, 2, 3)
    ids = [
        ((tz * 10 + ty) * 10 + tx) * 1000 + (bz * 10 + by) * 10 + bx
        for bz in range(grid[2])
        for by in range(grid[1])
        for bx in range(grid[0])
        for tz in range(block[2])
        for ty in range(block[1])
        for tx in range(block[0])
    ]
    w, h, d = 21, 13, 5
    a = r.integers(-1000, 1000, (d, h, w))
    p = np.pad(a, 1, mode="edge")
    around = p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1] + p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1]
    size = data("3I", w, h, d)
    return (
        {
            "ids": out(np.array(ids, np.int32)),
            "in": inp(a.astype(np.int32)),
            "out": out((a + ((around - 6 * a) >> 3)).astype(np.int32)),
        },
        [
            launch("ids", [g * b for g, b in zip(grid, block)], list(block), "ids"),
            launch("heat", [24, 16, d], [8, 4, 1], "in", "out", size),
        ],
        [],
    )
