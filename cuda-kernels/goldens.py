"""What each kernel is run and judged with: buffers with their goldens, launches, options. numpy, Python's integers and its libraries
are what goldens are of. The helpers are those of `../test-kernels/cases.py`."""

import math
import zlib

import numpy as np

from cases import F, I, data, f32, inp, out, tmp


def grid(kernel, blocks, threads, *args, shared=None, repeat=1):
    """A launch in the words of CUDA."""
    entry = {"kernel": kernel, "grid": list(blocks), "block": list(threads)}
    if shared is not None:
        entry["shared"] = int(shared)
    if repeat != 1:
        entry["repeat"] = repeat
    return {**entry, "args": [{"buffer": a} if isinstance(a, str) else a for a in args]}


def U(v):
    return {"u32": int(v)}


def i32(r, *shape, low=-100, high=100):
    return r.integers(low, high, shape, dtype=np.int64).astype(np.int32)


def scale_types(r):
    n = 1000
    a, b, c = f32(r, n), r.uniform(-1, 1, n), i32(r, n)
    buffers = {
        "a": out(a * np.float32(2.5), init=a),
        "b": out(b * 0.3, init=b),
        "c": out(c * np.int32(-7), init=c),
    }
    launches = [
        grid("scale<float>", [4], [256], "a", F(2.5), I(n)),
        grid("scale<double>", [8], [128], "b", {"f64": 0.3}, I(n)),
        grid("scale<int>", [32], [32], "c", I(-7), I(n)),
    ]
    return buffers, launches


def reduce_tree(r):
    v = i32(r, 5003, low=-(2**31), high=2**31)
    total = np.array([v.astype(np.int64).sum()])
    return {"v": inp(v), "total": out(total)}, [grid("reduce", [5], [128], "v", "total", I(len(v)), shared=128 * 8)]


def reduce_warp(r):
    v = (i32(r, 7001) / 4).astype(np.float32)
    total = np.array([v.astype(np.float64).sum()], np.float32)
    return {"v": inp(v), "total": out(total)}, [grid("reduce", [6], [192], "v", "total", I(len(v)))]


def scan_block(r):
    v = i32(r, 1000)
    parts = [np.cumsum(v[i : i + 256]) for i in range(0, 1000, 256)]
    expected = np.concatenate(parts).astype(np.int32)
    return {"v": inp(v), "sums": out(expected)}, [grid("scan", [4], [256], "v", "sums", I(1000))]


def histogram(r):
    v = (r.normal(128, 40, 6000).clip(0, 255)).astype(np.uint8)
    bins = np.bincount(v, minlength=256).astype(np.uint32)
    return {"v": inp(v), "bins": out(bins)}, [grid("histogram", [4], [128], "v", "bins", I(len(v)))]


def transpose_tile(r):
    a = f32(r, 45, 70)
    return {"a": inp(a), "t": out(a.T)}, [grid("transpose", [5, 3], [16, 16], "a", "t", I(70), I(45))]


def gemm_template(r):
    m, n, k = 37, 50, 43
    a, b = i32(r, m, k, low=-9, high=9), i32(r, k, n, low=-9, high=9)
    c = a.astype(np.int64) @ b
    fa, fb = a.astype(np.float32), b.astype(np.float32)
    buffers = {"a": inp(a), "b": inp(b), "c": out(c.astype(np.int32)), "fa": inp(fa), "fb": inp(fb), "fc": out(c.astype(np.float32))}
    size = [I(m), I(n), I(k)]
    launches = [
        grid("gemm<int, 8>", [7, 5], [8, 8], "a", "b", "c", *size),
        grid("gemm<float, 16>", [4, 3], [16, 16], "fa", "fb", "fc", *size),
    ]
    return buffers, launches


def filter_constant(r):
    v = i32(r, 777).astype(np.float32)
    p = np.concatenate([np.full(3, v[0]), v, np.full(3, v[-1])])
    expected = sum(w * p[t : t + 777] for t, w in enumerate([1, 2, 3, 4, 3, 2, 1])).astype(np.float32)
    return {"v": inp(v), "o": out(expected)}, [grid("filter", [7], [128], "v", "o", I(777))]


def spmv_warp(r):
    rows, columns = 61, 200
    length = r.integers(0, 90, rows)
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    column = np.concatenate([np.sort(r.choice(columns, n, replace=False)) for n in length]).astype(np.int32)
    value, x = i32(r, start[-1], low=-8, high=8).astype(np.float32), i32(r, columns, low=-8, high=8).astype(np.float32)
    y = np.array([(value[a:b].astype(np.float64) * x[column[a:b]]).sum() for a, b in zip(start, start[1:])], np.float32)
    buffers = {"start": inp(start), "column": inp(column), "value": inp(value), "x": inp(x), "y": out(y)}
    # Enough work-items for warps of 64 lanes.
    return buffers, [grid("spmv", [31], [128], *buffers, I(rows))]


def graph(r, n, most):
    """A graph as lists of neighbours."""
    length = r.integers(0, most, n)
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    return start, r.integers(0, n, start[-1]).astype(np.int32)


def bfs_claim(r):
    n, rounds = 400, 12
    start, edge = graph(r, n, 5)
    level = np.full(n, -1, np.int32)
    level[0] = 0
    expected, found, now = level.copy(), 0, [0]
    for depth in range(rounds):
        following = []
        for v in now:
            for w in edge[start[v] : start[v + 1]]:
                if expected[w] == -1:
                    expected[w] = depth + 1
                    following.append(w)
        found, now = found + len(following), following
    buffers = {"start": inp(start), "edge": inp(edge), "level": out(expected, init=level), "changed": out(np.array([found], np.int32))}
    return buffers, [grid("step", [4], [100], "start", "edge", "level", "changed", I(d), I(n)) for d in range(rounds)]


def stencil_3d(r):
    a = f32(r, 9, 14, 20)
    o = np.zeros_like(a)
    c = np.s_[1:-1]
    s = a[c, c, :-2] + a[c, c, 2:]
    s = s + (a[c, :-2, c] + a[c, 2:, c])
    s = s + (a[:-2, c, c] + a[2:, c, c])
    o[c, c, c] = s * np.float32(0.25) - a[c, c, c]
    return {"a": inp(a), "o": out(o)}, [grid("stencil", [3, 4, 3], [8, 4, 3], "a", "o", data("III", 20, 14, 9))]


def nbody(r):
    n = 128
    body = np.concatenate([f32(r, n, 3), f32(r, n, 1, low=0.1, high=1)], axis=1)
    p, w = body[:, :3].astype(np.float64), body[:, 3].astype(np.float64)
    d = p[None, :, :] - p[:, None, :]
    inverse = 1 / np.sqrt((d * d).sum(2) + np.float64(np.float32(0.01)))
    force = ((w[None, :] * inverse**3)[:, :, None] * d).sum(1)
    # 128 terms of at most 1000 times the distance; a factor of 10 for the cube of the inverse root.
    size = np.abs((w[None, :] * inverse**3)[:, :, None] * d).sum(1).max()
    expected = np.concatenate([force, np.zeros((n, 1))], axis=1).astype(np.float32)
    return {"body": inp(body), "force": out(expected, atol=float(size * 140 * 2**-24))}, [
        grid("forces", [2], [64], "body", "force", I(n), shared=64 * 16)
    ]


def options(r):
    n = 500
    s, k, t = (r.uniform(*range_, n).astype(np.float32) for range_ in ((10, 100), (10, 100), (0.25, 5)))
    rate, vol = np.float32(0.02), np.float32(0.3)
    S, K, T, R, V = (np.asarray(x, np.float64) for x in (s, k, t, rate, vol))
    d1 = (np.log(S / K) + (R + 0.5 * V * V) * T) / (V * np.sqrt(T))
    d2 = d1 - V * np.sqrt(T)
    normal = lambda x: 0.5 * np.vectorize(math.erfc)(-x / math.sqrt(2))
    discount = np.exp(-R * T)
    call = (S * normal(d1) - K * discount * normal(d2)).astype(np.float32)
    put = (K * discount * normal(-d2) - S * normal(-d1)).astype(np.float32)
    # d1 has some ten roundings of values below 10, and the result is a difference of numbers up to 100.
    buffers = {"s": inp(s), "k": inp(k), "t": inp(t), "call": out(call, atol=3e-4), "put": out(put, atol=3e-4)}
    return buffers, [grid("price", [4], [128], *buffers, F(float(rate)), F(float(vol)), I(n))]


def mandelbrot(r):
    width, height, most = 64, 64, 60
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    c = (x * (3.0 / 64) - 2.25, y * (2.5 / 64) - 1.25)
    z, count, alive = (np.zeros(x.shape), np.zeros(x.shape)), np.zeros(x.shape, np.int32), np.ones(x.shape, bool)
    for _ in range(most):
        rr, ii = z[0] * z[0], z[1] * z[1]
        alive &= ~(rr + ii > 4)
        count += alive
        imaginary, real = (2 * z[0]) * z[1] + c[1], (rr - ii) + c[0]
        z = np.where(alive, real, z[0]), np.where(alive, imaginary, z[1])
    return {"count": out(count)}, [grid("mandelbrot", [4, 8], [16, 8], "count", I(width), I(height), I(most))]


def bitonic_shared(r):
    keys = r.integers(0, 2**32, (3, 512)).astype(np.uint32)
    return {"keys": out(np.sort(keys, axis=1), init=keys)}, [grid("sort", [3], [128], "keys")]


def compact_ballot(r):
    # Blocks of 64: on machines with wider warps a mask of 32 bits would not do.
    v = i32(r, 64 * 5)
    kept = v[v > 0]
    # One block: its warps come in order of their atomics, so only sizes and sums are certain beyond a warp.
    launches = [grid("compact", [1], [32], "v", "packed", "count", I(32))]
    first = v[:32][v[:32] > 0]
    packed = np.zeros(64 * 5, np.int32)
    packed[: len(first)] = first
    assert len(kept) > len(first)
    return {"v": inp(v), "packed": out(packed), "count": out(np.array([len(first)], np.int32))}, launches


def softmax_rows(r):
    a = f32(r, 9, 150, low=-4, high=4)
    e = np.exp(a.astype(np.float64) - a.max(1, keepdims=True))
    expected = (e / e.sum(1, keepdims=True)).astype(np.float32)
    # exp is within 3 units, the sum of 150 terms within 10, the division within 2.5.
    return {"a": inp(a), "o": out(expected, rtol=20 * 2**-23)}, [grid("softmax", [9], [128], "a", "o", I(150))]


def layer_norm(r):
    a, gain = f32(r, 7, 200), f32(r, 200)
    x = a.astype(np.float64)
    mean, var = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    expected = ((x - mean) / np.sqrt(var + np.float64(np.float32(1e-5))) * gain).astype(np.float32)
    buffers = {"a": inp(a), "gain": inp(gain), "o": out(expected, atol=2e-6)}
    return buffers, [grid("normalise", [7], [64], "a", "gain", "o", data("if", 200, 1e-5))]


def half_blend(r):
    n = 300
    a, b = (r.uniform(-2, 2, (n, 2)).astype(np.float16) for _ in range(2))
    w = np.float16(0.375)
    return {"a": inp(a), "b": inp(b), "o": out(b + w * (a - b))}, [grid("blend", [5], [64], "a", "b", "o", data("e", w), I(n))]


def half_pairs(r):
    n = 200
    a, b = (r.uniform(-40, 40, (n, 2)).astype(np.float16) for _ in range(2))
    b[::7] = a[::7]
    half = np.float16
    total = (a + b) * half([0.5, 2]) - a[:, ::-1]
    ratio = np.stack([a[:, 0] / -a[:, 1], b[:, 0] / b[:, 1]], 1)
    # The product of two halves and a sum with a third are exact in double precision, which is rounded once.
    fused = (a.astype(np.float64) * b + a).astype(half)
    o = [total, np.maximum(a, b), np.minimum(-a, np.abs(b)), (a > b).astype(half), ratio]
    o += [np.stack([np.floor(a[:, 0]), np.ceil(a[:, 1])], 1), np.trunc(b), fused[:, [0, 0]]]
    bits = np.stack([a[:, 0].view(np.uint16), (half(1) - a[:, 0]).view(np.uint16)], 1)
    whole = np.stack([np.trunc(a[:, 0]), np.rint(b[:, 1])], 1).astype(np.int32)
    buffers = {"a": inp(a), "b": inp(b), "o": out(np.stack(o, 1).astype(half)), "bits": out(bits), "whole": out(whole)}
    return buffers, [grid("pairs", [4], [64], "a", "b", "o", "bits", "whole", I(n))]


def parts_of_words(r):
    n = 150
    edges = np.array([0, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x80008000, 0x7FFF7FFF, 0x80FF017F], np.uint32)
    a, b = (np.where(r.random(n) < 0.3, r.choice(edges, n), r.integers(0, 1 << 32, n).astype(np.uint32)) for _ in range(2))
    b[::9] = a[::9]
    columns = []
    for f in PARTS:
        for bits in (8, 16):
            shifts = np.arange(0, 32, bits)
            parts = [(v[:, None].astype(np.int64) >> shifts) & ((1 << bits) - 1) for v in (a, b)]
            signed = [(p ^ (1 << (bits - 1))) - (1 << (bits - 1)) for p in parts]
            made = np.asarray(f(*parts, *signed, bits), np.int64)
            whole = made.sum(1) if f is PARTS_SUM else ((made & ((1 << bits) - 1)) << shifts).sum(1)
            columns.append(whole.astype(np.uint32))
    return {"a": inp(a), "b": inp(b), "o": out(np.stack(columns, 1))}, [grid("parts", [3], [64], "a", "b", "o", I(n))]


def clipped(v, bits):
    return np.clip(v, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def PARTS_SUM(u, v, x, y, bits):
    return abs(u - v)


# Of unsigned parts u and v, the same as signed ones x and y.
PARTS = [
    lambda u, v, x, y, bits: u + v,
    lambda u, v, x, y, bits: clipped(x + y, bits),
    lambda u, v, x, y, bits: np.minimum(u + v, (1 << bits) - 1),
    lambda u, v, x, y, bits: u - v,
    lambda u, v, x, y, bits: clipped(x - y, bits),
    lambda u, v, x, y, bits: np.maximum(u - v, 0),
    lambda u, v, x, y, bits: (u + v + 1) // 2,
    lambda u, v, x, y, bits: (u + v) // 2,
    lambda u, v, x, y, bits: abs(x - y),
    lambda u, v, x, y, bits: abs(u - v),
    lambda u, v, x, y, bits: np.maximum(x, y),
    lambda u, v, x, y, bits: np.minimum(u, v),
    lambda u, v, x, y, bits: np.where(x > y, -1, 0),
    lambda u, v, x, y, bits: u <= v,
    lambda u, v, x, y, bits: np.where(u == v, -1, 0),
    PARTS_SUM,
    lambda u, v, x, y, bits: abs(x),
    lambda u, v, x, y, bits: clipped(abs(x), bits),
    lambda u, v, x, y, bits: -x,
    lambda u, v, x, y, bits: clipped(-x, bits),
]


def pi_points(r):
    items, rounds, mask = 192, 10, 0xFFFFFFFF
    hits = 0
    for i in range(items):
        state = (2463534242 + 7919 * i) & mask
        point = []
        for _ in range(2 * rounds):
            state ^= state << 13 & mask
            state ^= state >> 17
            state ^= state << 5 & mask
            point.append(state >> 16)
        hits += sum(x * x + y * y < 1 << 32 for x, y in zip(point[::2], point[1::2]))
    return {"inside": out(np.array([hits], np.uint64))}, [grid("points", [3], [64], "inside", I(rounds))]


def dot_double(r):
    a, b = (i32(r, 3001).astype(np.float64) for _ in range(2))
    return {"a": inp(a), "b": inp(b), "sum": out(np.array([a @ b]))}, [grid("dot", [4], [128], "a", "b", "sum", I(3001))]


def hash_insert(r):
    keys = r.integers(1, 2**63, 150).astype(np.uint64)[r.integers(0, 150, 600)]
    values, times = np.unique(keys, return_counts=True)
    found = dict(zip(values, times))
    expected = np.array([found[k] for k in keys], np.uint32)
    buffers = {"keys": inp(keys), "table": tmp(np.uint64, 512), "count": tmp(np.uint32, 512), "found": out(expected)}
    launches = [
        grid("insert", [5], [128], "keys", "table", "count", I(600), U(511)),
        grid("look_up", [5], [128], "keys", "table", "count", "found", I(600), U(511)),
    ]
    return buffers, launches


def jacobi(r):
    a = f32(r, 25, 40)
    x = [a.copy(), a.copy()]
    launches = []
    for step in range(6):
        f, t = x[step % 2], x[1 - step % 2]
        c = np.s_[1:-1]
        t[c, c] = np.float32(0.25) * ((f[c, :-2] + f[c, 2:]) + (f[:-2, c] + f[2:, c]))
        names = ("a", "b") if step % 2 == 0 else ("b", "a")
        launches.append(grid("relax", [3, 4], [16, 8], *names, I(40), I(25)))
    return {"a": out(x[0], init=a), "b": out(x[1], init=a)}, launches


def floyd(r):
    n = 50
    d = r.integers(1, 100, (n, n)).astype(np.int32)
    d[r.random((n, n)) < 0.8] = 10**6
    np.fill_diagonal(d, 0)
    e = d.astype(np.int64)
    for k in range(n):
        e = np.minimum(e, e[:, k : k + 1] + e[k : k + 1, :])
    launches = [grid("through", [1, n], [64], "distance", I(n), I(k), shared=64 * 4) for k in range(n)]
    return {"distance": out(e.astype(np.int32), init=d)}, launches


def alignment(r):
    n, m = 60, 75
    a, b = (r.integers(65, 69, k).astype(np.int8) for k in (n, m))
    h = np.zeros((n + 1, m + 1), np.int32)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = h[i - 1, j - 1] + (2 if a[i - 1] == b[j - 1] else -1)
            h[i, j] = max(0, diagonal, h[i - 1, j] - 1, h[i, j - 1] - 1)
    return {"a": inp(a), "b": inp(b), "table": out(h)}, [grid("align", [1], [64], "a", "b", "table", I(n), I(m))]


def kmeans(r):
    n, k, d = 500, 6, 3
    p, c = i32(r, n, d), i32(r, k, d)
    distance = ((p[:, None, :].astype(np.int64) - c) ** 2).sum(2)
    nearest_ = distance.argmin(1).astype(np.int32)
    sums = np.array([p[nearest_ == i].sum(0) for i in range(k)], np.int32).reshape(k, d)
    sizes = np.bincount(nearest_, minlength=k).astype(np.int32)
    buffers = {"p": inp(p), "c": inp(c), "nearest": out(nearest_), "sums": out(sums), "sizes": out(sizes)}
    return buffers, [grid("assign<3>", [4], [128], *buffers, I(n), I(k), shared=4 * k * (d + 1))]


def grey_image(r):
    p = r.integers(0, 256, (30, 64, 4)).astype(np.uint8)
    q = p[:, :50].astype(int)
    g = ((77 * q[..., 0] + 150 * q[..., 1] + 29 * q[..., 2] + 128) >> 8).astype(np.uint8)
    return {"p": inp(p), "g": out(g)}, [grid("grey", [4, 8], [16, 4], "p", "g", I(50), I(30), I(64))]


def sobel(r):
    p = r.integers(0, 256, (35, 50)).astype(np.uint8)
    e = np.pad(p.astype(np.int64), 1, mode="edge")
    part = lambda dy, dx: e[dy : dy + 35, dx : dx + 50]
    across = part(0, 2) + 2 * part(1, 2) + part(2, 2) - part(0, 0) - 2 * part(1, 0) - part(2, 0)
    down = part(2, 0) + 2 * part(2, 1) + part(2, 2) - part(0, 0) - 2 * part(0, 1) - part(0, 2)
    o = (np.abs(across) + np.abs(down)).astype(np.int16)
    return {"p": inp(p), "o": out(o)}, [grid("edges", [4, 3], [16, 16], "p", "o", I(50), I(35))]


def game_of_life(r):
    words, rows = 5, 24
    a = r.integers(0, 2**32, (rows, words)).astype(np.uint32)
    # Bit 0 of a word is its first cell.
    cells = np.unpackbits(a.view(np.uint8), axis=1, bitorder="little")
    now = cells
    for _ in range(4):
        near = sum(np.roll(now.astype(int), (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - now
        now = ((near == 3) | ((near == 2) & (now == 1))).astype(np.uint8)
    pack = lambda c: np.packbits(c, axis=1, bitorder="little").view(np.uint32)
    launches = [grid("generation", [1, rows], [8], *(("a", "b") if i % 2 == 0 else ("b", "a")), I(words), I(rows)) for i in range(4)]
    return {"a": out(pack(now), init=a), "b": tmp(np.uint32, rows, words)}, launches


def functors(r):
    v = i32(r, 700)
    return {"v": inp(v), "o": out(3 * v - 11)}, [grid("map<Line>", [2], [128], "v", "o", data("ii", 3, -11), I(700))]


def tiles(r):
    v = i32(r, 6 * 64, low=0, high=1000)
    t = v.reshape(-1, 8)
    buffers = {"v": inp(v), "sums": out(t.sum(1).astype(np.int32)), "above": out((t > t.sum(1, keepdims=True) // 8).sum(1).astype(np.int32))}
    return buffers, [grid("tiles", [6], [8, 8], *buffers)]


def gauss(r):
    n, prime = 20, 998244353
    m = r.integers(0, prime, (n, n + 1)).astype(np.uint32)
    e = [[int(x) for x in row] for row in m]
    for k in range(n):
        for y in range(k + 1, n):
            left = e[y][k]
            for x in range(k + 1, n + 1):
                e[y][x] = (e[y][x] * e[k][k] + (prime - left) * e[k][x]) % prime
    launches = [grid("eliminate", [2, 5], [16, 4], "m", I(n), I(k), U(prime)) for k in range(n)]
    return {"m": out(np.array(e, np.uint32), init=m)}, launches


def fft_stage(r):
    n, stages = 256, 8
    v = f32(r, n, 2)
    spectrum = np.fft.fft(v[:, 0].astype(np.float64) + 1j * v[:, 1])
    expected = np.stack([spectrum.real, spectrum.imag], axis=1).astype(np.float32)
    launches = [grid("stage", [2], [64], *(("a", "b") if s % 2 == 0 else ("b", "a")), I(n), I(1 << s)) for s in range(stages)]
    # Eight stages, each with angles and products within some units of values up to the sum of all.
    return {"a": out(expected, init=v, atol=2e-5 * stages), "b": tmp(np.float32, n, 2)}, launches


def tensor_cursor(r):
    shape, begin = (5, 7, 3, 11), 2
    n = math.prod(shape)
    v, scale = f32(r, *shape[::-1]), np.array([0.5, -0.25, 2], np.float32)
    t = i32(r, 6, 40)
    cursor = lambda sizes, strides, at=0: data("10i", *sizes, *[0] * (4 - len(sizes)), *strides, *[0] * (4 - len(strides)), len(sizes), at)
    # The last dimension runs fastest in the range; the input has it slowest.
    strides = tuple(math.prod(shape[:d]) for d in range(4))
    linear = np.arange(begin, n)
    inputs = v.ravel()[sum(i * s for i, s in zip(np.unravel_index(linear, shape), strides))]
    # Factors follow the element; the summand's sign the first one that a thread has: as the step is even, the element's, too.
    sums = np.where(linear % 2 == 1, -scale[1], scale[1])
    factors = np.where(linear % 3 == 1, sums, scale[linear % 3])
    o = np.zeros(n, np.float32)
    o[begin:] = inputs * factors + sums  # by powers of two: one rounding, as in fmaf
    rows = t + 3 * np.arange(40, dtype=np.int32) - np.arange(6, dtype=np.int32)[:, None]
    back = tuple(math.prod(shape[d + 1 :]) for d in range(4))
    launches = [
        grid("apply", [3], [64], "o", cursor(shape, back), "v", cursor(shape, strides), data("iii3f", begin, n, 0, *scale)),
        grid("rows", [6], [32], "t", cursor((6, 40), (40, 1)), I(3)),
    ]
    return {"v": inp(v), "o": out(o), "t": out(rows, init=t)}, launches


def checksums(r):
    texts = [r.integers(0, 256, k).astype(np.uint8).tobytes() for k in r.integers(0, 40, 50)]
    start = np.concatenate([[0], np.cumsum([len(t) for t in texts])]).astype(np.int32)
    sums = np.array([zlib.crc32(t) for t in texts], np.uint32)
    buffers = {"text": inp(np.frombuffer(b"".join(texts), np.uint8)), "start": inp(start), "sum": out(sums)}
    return buffers, [grid("crc", [1], [64], *buffers, I(50))]


def random_numbers(r):
    n, mask = 128, 0xFFFFFFFF
    rows = []
    for i in range(n):
        c, key = [i, 0, 0, 0], [0x12345678, 0x9ABCDEF0]
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [p1 >> 32 ^ c[1] ^ key[0], p1 & mask, p0 >> 32 ^ c[3] ^ key[1], p0 & mask]
            key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
        rows.append(c)
    return {"o": out(np.array(rows, np.uint32))}, [grid("philox", [2], [64], "o", data("II", 0x12345678, 0x9ABCDEF0))]


def all_atomics(r):
    v, w = i32(r, 300), r.integers(0, 2**32, 300).astype(np.uint32)
    s = int(v.sum())
    word = np.array([s, -s, v.min(), v.max(), np.bitwise_and.reduce(v), np.bitwise_or.reduce(v), np.bitwise_xor.reduce(v)], np.int32)
    first = np.array([0, 0, 2**31 - 1, -(2**31), -1, 0, 0], np.int32)
    # Up from 0 and down from 50, each with 100 values that follow in a circle.
    turns = np.array([300 % 100, (50 - 300) % 100], np.uint32)
    q = [int(x) ** 2 for x in w]
    wide = np.array([sum(q) % 2**64, min(q), max(q)], np.uint64)
    buffers = {
        "v": inp(v), "word": out(word, init=first), "turns": out(turns, init=np.array([0, 50], np.uint32)),
        "w": inp(w), "wide": out(wide, init=np.array([0, 2**64 - 1, 0], np.uint64)),
    }  # fmt: skip
    return buffers, [grid("global_ones", [3], [128], "v", "word", "turns", I(300)), grid("shared_ones", [3], [128], "w", "wide", I(300))]


def barrier_votes(r):
    v = i32(r, 8, 96)
    v[:4] = np.abs(v[:4])
    per = lambda x: out(x.astype(np.int32))
    buffers = {"v": inp(v), "count": per((v > 0).sum(1)), "all": per((v > -50).all(1)), "any": per((v > 98).any(1))}
    return buffers, [grid("votes", [8], [96], *buffers)]


def match_lanes(r):
    v = i32(r, 500, low=0, high=7)
    return {"v": inp(v), "count": out(np.bincount(v, minlength=7).astype(np.uint32))}, [grid("count", [16], [32], "v", "count", I(500))]


def bits(r):
    n, mask = 200, 0xFFFFFFFF
    a, b = (r.integers(0, 2**32, n).astype(np.uint32) for _ in range(2))
    a[:4], b[:4] = [0, 1, 2**31, mask], [0, mask, 2**31, 1]
    signed = lambda x: x - (x >> 31 << 32)
    byte = lambda x, i: x >> 8 * i & 255
    rows = []
    for x, y in zip(map(int, a), map(int, b)):
        both, shift = y << 32 | x, y & 63
        s, t = signed(x), signed(y)
        rows.append([
            x.bit_count(), 32 - x.bit_length(), (x & -x).bit_length(), int(f"{x:032b}"[::-1], 2), x * y >> 32, s * t >> 32,
            byte(x, 0) | byte(y, 0) << 8 | byte(x, 1) << 16 | byte(y, 1) << 24,
            both << (shift & 31) >> 32, both >> (shift & 31), x if shift >= 32 else both << shift >> 32,
            7 + abs(x - y), 7 + abs(s - t), (x + y) >> 1, (s + t) >> 1, (x & 0xFFFFFF) * (y & 0xFFFFFF),
            5 + sum((byte(x, i) ^ 128) * (byte(y, i) ^ 128) - 128 * (byte(x, i) ^ 128) - 128 * (byte(y, i) ^ 128) + 128 * 128 for i in range(4)),
        ])  # fmt: skip
    expected = np.array([[v & mask for v in row] for row in rows], np.uint32)
    return {"a": inp(a), "b": inp(b), "o": out(expected)}, [grid("bits", [2], [128], "a", "b", "o", I(n))]


def float_functions(r):
    v = r.uniform(0.1, 6, 200).astype(np.float32)
    x = v.astype(np.float64)
    columns = [
        np.sin(x), np.cos(x), np.exp(x), np.log(x), np.sqrt(x), 1 / np.sqrt(x), np.cbrt(x), x**1.5, np.arctan2(x, 2), np.tanh(x),
        np.vectorize(math.erf)(x), np.hypot(x, 3), np.fmod(x, 0.75), np.log1p(x), np.floor(4 * x), x**2.5,
    ]  # fmt: skip
    # OpenCL's bound is 16 units in the last place (erf and pow); sine and cosine near their zeros count by the argument's size.
    expected = np.stack(columns, axis=1).astype(np.float32)
    return {"v": inp(v), "o": out(expected, rtol=16 * 2**-23, atol=4 * 2**-23)}, [grid("functions", [2], [128], "v", "o", I(200))]


def convert(r):
    v = np.concatenate([f32(r, 96, low=-1000, high=1000), np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.0, -4.0], np.float32)])
    x = v.astype(np.float64)
    columns = [np.rint(x), np.trunc(x), np.ceil(x), np.floor(x)]
    rows = np.zeros((len(v), 8), np.int32)
    rows[:, :4] = np.stack(columns, axis=1)
    rows[:, 4] = v.view(np.int32)
    rows[:, 5] = v.astype(np.float16).view(np.uint16)
    rows[:, 6] = (x.view(np.int64) >> 32).astype(np.int32)
    rows[:, 7] = np.rint(x * 1000.0)
    return {"v": inp(v), "o": out(rows)}, [grid("convert", [1], [128], "v", "o", I(len(v)))]


def upper(x):
    """Floats rounded to their upper 16 bits, to nearest even."""
    bits = np.atleast_1d(np.asarray(x, np.float32)).view(np.uint32).astype(np.uint64)
    return ((bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)


def wide(x):
    """The floats whose upper 16 bits these are."""
    return (x.astype(np.uint32) << np.uint32(16)).view(np.float32)


def brain_floats(r):
    n, weight = 300, np.float32(0.3)
    a, b = (upper(r.uniform(-4, 4, n) * 2.0 ** r.integers(-130, 100, n)) for _ in range(2))
    a[:3] = [0x7F80, 0x0001, 0x8000]
    difference = upper(wide(a) - wide(b))
    expected = upper(wide(b) + wide(upper(wide(upper(weight)) * wide(difference))))
    # Whole numbers, of which no sum is rounded.
    values = r.integers(-4, 5, (128, 2))
    pairs = np.stack([values[np.arange(128) % 64 % 3 == k].sum(0) for k in range(3)])
    low, high = ([values[np.arange(128) % 64 % 6 == k, side].sum() for k in range(6)] for side in range(2))
    buffers = {
        "a": inp(a),
        "b": inp(b),
        "o": out(expected),
        "values": inp(upper(values)),
        "pairs": out(upper(pairs)),
        "singles": out(upper(low)),
        "halves": inp(values.astype(np.float16)),
        "half_pairs": out(pairs.astype(np.float16)),
        "half_singles": out(np.array(high).astype(np.float16)),
    }
    launches = [
        grid("blend", [5], [64], "a", "b", "o", data("f", weight), I(n)),
        grid("add_pairs", [2], [64], "values", "pairs", "singles"),
        grid("add_halves", [2], [64], "halves", "half_pairs", "half_singles"),
    ]
    return buffers, launches


def group_reductions(r):
    n = 192
    a = r.integers(-1000, 1000, n).astype(np.int32)
    expected = np.zeros((6, n), np.int32)
    for i in range(n):
        warp, eight = a[i - i % 32 : i - i % 32 + 32], a[i - i % 8 : i - i % 8 + 8]
        expected[0, i], expected[1, i] = eight.sum(), warp.max()
        expected[2, i] = eight[: i % 8 + 1].sum()
        expected[3, i] = np.bitwise_xor.reduce(warp[: i % 32]) if i % 32 else 0
        if a[i] % 3 == 0:
            expected[4, i] = warp[warp % 3 == 0].min()
            before = warp[: i % 32 + 1]
            expected[5, i] = before[before % 3 == 0].sum()
    quads = r.integers(-1000, 1000, (40, 4)).astype(np.int32)
    streamed = quads[np.minimum(np.arange(64), 39)]
    streamed[:, 0] += quads[5, 1]
    streamed[:, 2] = quads[5, 3]
    buffers = {"a": inp(a), "o": out(expected), "quads": inp(quads), "streamed": out(streamed)}
    launches = [
        grid("reduce", [3], [64], "a", "o"),
        grid("stream", [1], [64], "quads", "streamed", data("I", 40)),
    ]
    return buffers, launches
