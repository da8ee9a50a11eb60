#!/usr/bin/env python3
"""Writes the cases that generate.py does not: physics, sparse and graph kernels, transforms, hashing, images, state machines.

    python3 generate_more.py

Goldens are numpy in double precision or Python integers, never an OpenCL implementation. Seeded: it always writes the same bytes.
"""

import json
import math
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent


def write(name, source, golden, buffers, launches, options=()):
    """buffers: name -> (initial array, expected array or None, rtol, atol)."""
    folder = ROOT / name
    folder.mkdir(exist_ok=True)
    (folder / "kernel.cl").write_text(f"// Golden: {golden}.\n{source.strip()}\n")
    case = {"source": "kernel.cl", "options": list(options), "buffers": {}, "launches": launches}
    for b, (init, expect, rtol, atol) in buffers.items():
        np.save(folder / f"{b}.npy", init)
        entry = {"npy": f"{b}.npy"}
        if expect is not None:
            np.save(folder / f"{b}.expect.npy", expect)
            entry.update({"expect": f"{b}.expect.npy", "rtol": rtol, "atol": atol})
        case["buffers"][b] = entry
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def launch(kernel, size, local, *args):
    shown = []
    for a in args:
        shown.append({"buffer": a} if isinstance(a, str) else a)
    return {"kernel": kernel, "global": list(size), "local": list(local), "args": shown}


I = lambda v: {"i32": v}
F = lambda v: {"f32": v}


def nbody():
    r = np.random.default_rng(11)
    n = 150
    p = r.standard_normal((n, 4)).astype(np.float32)
    p[:, 3] = r.uniform(0.5, 2, n)
    q = p.astype(np.float64)
    d = q[None, :, :3] - q[:, None, :3]
    inv = 1 / np.sqrt((d**2).sum(2) + 0.01) ** 3
    acc = (d * (inv * q[None, :, 3])[..., None]).sum(1)
    out = np.concatenate([acc, np.zeros((n, 1))], 1).astype(np.float32)
    write("nbody", """
__kernel void nbody(__global const float4 *p, __global float4 *a, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float4 me = p[i];
  float3 sum = (float3)(0.0f);
  for (int j = 0; j < n; j++) {
    float4 other = p[j];
    float3 d = other.xyz - me.xyz;
    float r2 = dot(d, d) + 0.01f;
    sum += d * (other.w / (r2 * sqrt(r2)));
  }
  a[i] = (float4)(sum, 0.0f);
}""", "numpy float64", {"p": (p, None, 0, 0), "a": (np.zeros((n, 4), np.float32), out, 2e-4, 2e-3)},
          [launch("nbody", [160], [40], "p", "a", I(n))])


def spmv():
    r = np.random.default_rng(12)
    n = 201
    lengths = r.integers(0, 23, n)
    rows = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = r.integers(0, n, rows[-1]).astype(np.int32)
    values = r.standard_normal(rows[-1])
    x = r.standard_normal(n)
    y = np.array([values[rows[i]:rows[i + 1]] @ x[columns[rows[i]:rows[i + 1]]] for i in range(n)])
    write("spmv_csr", """
__kernel void spmv(__global const int *rows, __global const int *columns, __global const double *values,
                   __global const double *x, __global double *y, int n) {
  int i = get_global_id(0);
  if (i < n) {
    double sum = 0.0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += values[k] * x[columns[k]];
    y[i] = sum;
  }
}""", "numpy float64", {"rows": (rows, None, 0, 0), "columns": (columns, None, 0, 0), "values": (values, None, 0, 0), "x": (x, None, 0, 0),
                        "y": (np.zeros(n), y, 1e-12, 1e-12)}, [launch("spmv", [256], [64], "rows", "columns", "values", "x", "y", I(n))])


def bfs():
    r = np.random.default_rng(13)
    n = 300
    edges = [sorted(set(r.integers(0, n, r.integers(0, 5)).tolist())) for _ in range(n)]
    rows = np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int32)
    columns = np.array([t for e in edges for t in e], np.int32)
    level = np.full(n, -1, np.int32)
    level[0] = 0
    frontier, depth = [0], 0
    while frontier and depth < 8:
        following = []
        for v in frontier:
            for t in edges[v]:
                if level[t] < 0:
                    level[t] = depth + 1
                    following.append(t)
        frontier, depth = following, depth + 1
    start = np.full(n, -1, np.int32)
    start[0] = 0
    write("bfs_step", """
__kernel void step(__global const int *rows, __global const int *columns, __global volatile int *level, int depth, int n) {
  int v = get_global_id(0);
  if (v >= n || level[v] != depth)
    return;
  for (int k = rows[v]; k < rows[v + 1]; k++)
    atomic_cmpxchg(&level[columns[k]], -1, depth + 1);
}""", "breadth-first search in Python", {"rows": (rows, None, 0, 0), "columns": (columns, None, 0, 0), "level": (start, level, 0, 0)},
          [launch("step", [330], [33], "rows", "columns", "level", I(d), I(n)) for d in range(8)])


def fft():
    r = np.random.default_rng(14)
    n = 256
    x = (r.standard_normal((n, 2))).astype(np.float32)
    y = np.fft.fft(x[:, 0].astype(np.float64) + 1j * x[:, 1])
    out = np.stack([y.real, y.imag], 1).astype(np.float32)
    write("fft", """
__kernel void fft(__global const float2 *in, __global float2 *out) {
  __local float2 a[256], b[256];
  int t = get_local_id(0), n = 256;
  a[t] = in[t];
  a[t + 128] = in[t + 128];
  __local float2 *from = a, *to = b;
  for (int s = 1; s < n; s *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int j = t / s * s, k = t % s;
    float angle = -M_PI_F * k / s;
    float2 w = (float2)(cos(angle), sin(angle));
    float2 u = from[t], v = from[t + 128];
    // Stockham: the twiddle belongs to the second half's input at this stage's stride.
    float2 wv = (float2)(w.x * v.x - w.y * v.y, w.x * v.y + w.y * v.x);
    to[2 * j + k] = u + wv;
    to[2 * j + k + s] = u - wv;
    __local float2 *swap = from;
    from = to;
    to = swap;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = from[t];
  out[t + 128] = from[t + 128];
}""", "numpy.fft in float64", {"x": (x, None, 0, 0), "y": (np.zeros((n, 2), np.float32), out, 1e-4, 1e-3)}, [launch("fft", [128], [128], "x", "y")])


def black_scholes():
    r = np.random.default_rng(15)
    n = 500
    s, k, t = (r.uniform(a, b, n).astype(np.float32) for a, b in ((5, 30), (1, 100), (0.25, 10)))
    S, K, T = (v.astype(np.float64) for v in (s, k, t))
    d1 = (np.log(S / K) + (0.02 + 0.5 * 0.09) * T) / (0.3 * np.sqrt(T))
    d2 = d1 - 0.3 * np.sqrt(T)
    cnd = np.vectorize(lambda d: 0.5 * (1 + math.erf(d / math.sqrt(2))))
    call = (S * cnd(d1) - K * np.exp(-0.02 * T) * cnd(d2)).astype(np.float32)
    write("black_scholes", """
float cnd(float d) { return 0.5f + 0.5f * erf(d * M_SQRT1_2_F); }
__kernel void black_scholes(__global const float *s, __global const float *k, __global const float *t, __global float *call, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float root = sqrt(t[i]);
  float d1 = (log(s[i] / k[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i]) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  call[i] = s[i] * cnd(d1) - k[i] * exp(-0.02f * t[i]) * cnd(d2);
}""", "numpy and math.erf in float64", {"s": (s, None, 0, 0), "k": (k, None, 0, 0), "t": (t, None, 0, 0),
                                        "call": (np.zeros(n, np.float32), call, 1e-4, 1e-4)}, [launch("black_scholes", [512], [64], "s", "k", "t", "call", I(n))])


def cholesky():
    r = np.random.default_rng(16)
    n = 24
    m = r.standard_normal((n, n))
    a = m @ m.T + n * np.eye(n)
    write("cholesky", """
__kernel void cholesky(__global double *a, int n) {
  int i = get_local_id(0);
  for (int k = 0; k < n; k++) {
    if (i == k)
      a[k * n + k] = sqrt(a[k * n + k]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i > k && i < n)
      a[i * n + k] /= a[k * n + k];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i > k && i < n)
      for (int j = k + 1; j <= i; j++)
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (i < n)
    for (int j = i + 1; j < n; j++)
      a[i * n + j] = 0.0;
}""", "numpy.linalg.cholesky in float64", {"a": (a, np.linalg.cholesky(a), 1e-11, 1e-11)}, [launch("cholesky", [40], [40], "a", I(n))])


def hash64():
    r = np.random.default_rng(17)
    n = 333
    x = r.integers(0, 2**63, n).astype(np.uint64)
    mask = 2**64 - 1
    out = []
    for v in x.tolist():
        h = v
        for i in range(20):
            h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd & mask
            h = ((h << 27) | (h >> 37)) & mask
            h = (h * 5 + 0x52dce729 + i) & mask
            h ^= (h * v) >> 64 if False else (h * v & (2**128 - 1)) >> 64
        out.append(h % 1000003 + (h // 7 & 0xffffffff00000000))
    write("hash64", """
__kernel void hash64(__global ulong *x) {
  size_t g = get_global_id(0);
  ulong v = x[g], h = v;
  for (int i = 0; i < 20; i++) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdUL;
    h = rotate(h, 27UL);
    h = h * 5 + 0x52dce729 + i;
    h ^= mul_hi(h, v);
  }
  x[g] = h % 1000003 + (h / 7 & 0xffffffff00000000UL);
}""", "Python integers", {"x": (x, np.array(out, np.uint64), 0, 0)}, [launch("hash64", [n], [37], "x")])


def dot_f64():
    r = np.random.default_rng(18)
    n = 5003
    a, b = r.standard_normal(n), r.standard_normal(n)
    partial = np.zeros(8)
    for g in range(8):
        partial[g] = sum(a[i] * b[i] for l in range(96) for i in range(g * 96 + l, n, 768))
    write("dot_f64", """
__kernel void dot_product(__global const double *a, __global const double *b, __global double *out, __local double *s, int n) {
  int l = get_local_id(0);
  double sum = 0.0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum = fma(a[i], b[i], sum);
  s[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    for (int k = 1; k < get_local_size(0); k++)
      sum += s[k];
    out[get_group_id(0)] = sum;
  }
}""", "numpy float64", {"a": (a, None, 0, 0), "b": (b, None, 0, 0), "out": (np.zeros(8), partial, 1e-12, 1e-12)},
          [launch("dot_product", [768], [96], "a", "b", "out", {"local": 768}, I(n))])


def image_filter():
    r = np.random.default_rng(19)
    w, h = 50, 37
    img = r.integers(0, 256, (h, w, 4)).astype(np.uint8)
    p = np.pad(img.astype(np.int64), ((1, 1), (1, 1), (0, 0)), mode="edge")
    sharp = 5 * p[1:-1, 1:-1] - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]
    out = np.clip(sharp, 0, 255).astype(np.uint8)
    out[..., 3] = img[..., 3]
    c = r.integers(-128, 128, (64, 16)).astype(np.int8)
    d = np.clip(c.astype(np.int64) + c[::-1].astype(np.int64), -128, 127)
    write("image_filter", """
__kernel void sharpen(__global const uchar4 *in, __global uchar4 *out, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  int up = max(y - 1, 0), down = min(y + 1, h - 1), left = max(x - 1, 0), right = min(x + 1, w - 1);
  int4 v = 5 * convert_int4(in[y * w + x]) - convert_int4(in[up * w + x]) - convert_int4(in[down * w + x]) -
           convert_int4(in[y * w + left]) - convert_int4(in[y * w + right]);
  uchar4 r = convert_uchar4_sat(v);
  r.w = in[y * w + x].w;
  out[y * w + x] = r;
}
__kernel void saturate(__global const char16 *in, __global char16 *out, int n) {
  int i = get_global_id(0);
  out[i] = add_sat(in[i], in[n - 1 - i]);
}""", "numpy int64, clipped", {"img": (img, None, 0, 0), "out": (np.zeros_like(img), out, 0, 0), "c": (c, None, 0, 0), "d": (np.zeros_like(c), d.astype(np.int8), 0, 0)},
          [launch("sharpen", [60, 40], [20, 4], "img", "out", I(w), I(h)), launch("saturate", [64], [64], "c", "d", I(64))])


def state_machine():
    r = np.random.default_rng(20)
    n, steps = 130, 60
    text = r.integers(0, 12, (n, steps)).astype(np.uint8)
    out = np.zeros(n, np.int32)
    for g in range(n):
        state, acc = 0, 1
        for c in text[g].tolist():
            if state == 0:
                state = (1 if c < 4 else 2 if c == 7 else 0)
                acc += c
            elif state == 1:
                state = (3 if c & 1 else 1)
                acc = acc * 3 + 1
            elif state == 2:
                acc ^= c << 3
                state = 5 if c > 9 else 4
            elif state == 3:
                acc -= 7
                state = 0 if acc % 2 == 0 else 4
            elif state == 4:
                state = c % 6
            else:
                acc = acc // 2 if acc >= 0 else -((-acc) // 2)
                break
            acc = (acc + 2**31) % 2**32 - 2**31
        out[g] = acc * 8 + state if abs(acc) < 2**27 else state
    write("state_machine", """
__kernel void machine(__global const uchar *text, __global int *out, int steps) {
  int g = get_global_id(0);
  int state = 0, acc = 1;
  for (int i = 0; i < steps; i++) {
    int c = text[g * steps + i];
    bool stop = false;
    switch (state) {
    case 0: state = c < 4 ? 1 : c == 7 ? 2 : 0; acc += c; break;
    case 1: state = c & 1 ? 3 : 1; acc = (int)((uint)acc * 3u + 1u); break;
    case 2: acc ^= c << 3; state = c > 9 ? 5 : 4; break;
    case 3: acc -= 7; state = acc % 2 == 0 ? 0 : 4; break;
    case 4: state = c % 6; break;
    default: acc /= 2; stop = true;
    }
    if (stop)
      break;
  }
  out[g] = (acc < (1 << 27) && acc > -(1 << 27)) ? acc * 8 + state : state;
}""", "Python integers", {"text": (text, None, 0, 0), "out": (np.zeros(n, np.int32), out, 0, 0)}, [launch("machine", [n], [26], "text", "out", I(steps))])


def nested_exits():
    r = np.random.default_rng(5)
    a = r.integers(0, 256, 256).astype(np.int32)
    n, m, count = 200, 30, 199
    out = np.zeros(count, np.int32)
    for g in range(count):
        acc, result, i = 0, None, 0
        while i < n:
            v = int(a[(g * 7 + i) & 255])
            if v & 1:
                if v > 200:
                    break
                if v < 20:
                    i += 1
                    continue
                acc += i
                for j in range(m):
                    if a[(v + j) & 255] == j:
                        acc += 100
                        break
                    if a[(acc + j) & 255] > 250:
                        break
                    acc ^= j
            elif v & 2:
                acc += 3 * i
                if acc > 5000:
                    result = -acc
                    break
            acc += 1
            i += 1
        out[g] = acc if result is None else result
    source = (ROOT / "nested_exits" / "kernel.cl").read_text().split("\n", 1)[1]
    write("nested_exits", source, "Python integers; nested divergent loops with breaks, continues, a goto and a return",
          {"a": (a, None, 0, 0), "o": (np.zeros(count, np.int32), out, 0, 0)}, [launch("k", [count], [33], "a", "o", I(n), I(m))])


def work_items():
    size, local, offset = (10, 6, 4), (5, 3, 2), (3, 1, 7)
    out = np.zeros(size[::-1] + (8,), np.int32)
    for z in range(size[2]):
        for y in range(size[1]):
            for x in range(size[0]):
                l = (x % 5, y % 3, z % 2)
                g = (x // 5, y // 3, z // 2)
                out[z, y, x] = [x + 3, y + 1, z + 7, l[0] + 10 * l[1] + 100 * l[2], g[0] + 10 * g[1] + 100 * g[2],
                                size[0] * 10000 + size[1] * 100 + size[2], local[0] * 100 + local[1] * 10 + local[2], 3]
    case = launch("ids", size, local, "out")
    case["offset"] = list(offset)
    write("work_items", """
__kernel void ids(__global int *out) {
  size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1), z = get_global_id(2) - get_global_offset(2);
  __global int *o = out + ((z * get_global_size(1) + y) * get_global_size(0) + x) * 8;
  o[0] = get_global_id(0);
  o[1] = get_global_id(1);
  o[2] = get_global_id(2);
  o[3] = get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2);
  o[4] = get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2);
  o[5] = get_global_size(0) * 10000 + get_global_size(1) * 100 + get_global_size(2);
  o[6] = get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_size(2);
  o[7] = get_work_dim();
}""", "Python integers", {"out": (np.zeros_like(out), out, 0, 0)}, [case])


def constant_table():
    table = [1.5, -2.25, 3.0, 0.5, 7.0, -1.0, 0.25, 9.5]
    idx = np.random.default_rng(21).integers(0, 8, 100).astype(np.int32)
    out = np.array([table[i] * 2 + [10, 20, 30, 40][i & 3] for i in idx], np.float32)
    private = np.array([sum(((k * k + int(i)) % 13) * (k == (int(i) + 3) % 8) for k in range(8)) for i in idx], np.int32)
    write("constant_table", """
__constant float table[8] = {1.5f, -2.25f, 3.0f, 0.5f, 7.0f, -1.0f, 0.25f, 9.5f};
__constant struct { char pad; int v[4]; } more = {1, {10, 20, 30, 40}};
__kernel void lookup(__global const int *idx, __global float *out, __global int *priv) {
  int g = get_global_id(0), i = idx[g];
  out[g] = table[i] * 2.0f + more.v[i & 3];
  int scratch[8];
  for (int k = 0; k < 8; k++)
    scratch[k] = (k * k + i) % 13;
  priv[g] = scratch[(i + 3) & 7];
}""", "Python numbers", {"idx": (idx, None, 0, 0), "out": (np.zeros(100, np.float32), out, 0, 0), "priv": (np.zeros(100, np.int32), private, 0, 0)},
          [launch("lookup", [100], [50], "idx", "out", "priv")])


def warp_aggregated():
    r = np.random.default_rng(31)
    n, keys = 1003, 7
    key = r.integers(0, keys, n).astype(np.int32)
    value = r.integers(-1000, 1000, n).astype(np.int32)
    count = np.bincount(key, minlength=keys).astype(np.int32)
    total = np.array([value[key == k].sum() for k in range(keys)], np.int32)
    # Work-items that end early take no part.
    highest = np.array([value[i // 4 * 4:min(i // 4 * 4 + 4, n)].max() for i in range(n)], np.int32)
    write("warp_aggregated", """
// Work-items of a sub-group with one key add up first, so that each key costs one atomic a sub-group: one key after the other.
__kernel void aggregate(__global const int *key, __global const int *value, __global int *count, __global int *sum, __global int *highest, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  int k = key[i], v = value[i];
  bool waits = true;
  for (;;) {
    uint4 waiting = sub_group_ballot(waits);
    if (sub_group_ballot_bit_count(waiting) == 0)
      break;
    if (waits && k == sub_group_non_uniform_broadcast(k, sub_group_ballot_find_lsb(waiting))) {
      uint4 lanes = sub_group_ballot(1);
      int total = sub_group_non_uniform_reduce_add(v);
      if (sub_group_elect()) {
        atomic_add(&count[k], (int)sub_group_ballot_bit_count(lanes));
        atomic_add(&sum[k], total);
      }
      waits = false;
    }
  }
  highest[i] = sub_group_clustered_reduce_max(v, 4);
}""", "numpy integers",
          {"key": (key, None, 0, 0), "value": (value, None, 0, 0), "count": (np.zeros(keys, np.int32), count, 0, 0), "sum": (np.zeros(keys, np.int32), total, 0, 0),
           "highest": (np.zeros(n, np.int32), highest, 0, 0)},
          [launch("aggregate", [1024], [64], "key", "value", "count", "sum", "highest", I(n))])


for make in (nbody, spmv, bfs, fft, black_scholes, cholesky, hash64, dot_f64, image_filter, state_machine, nested_exits, work_items, constant_table, warp_aggregated):
    make()
