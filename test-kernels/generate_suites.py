#!/usr/bin/env python3
"""Writes the cases that cover the algorithms of the public suites: Rodinia, PolyBench, Parboil, SHOC and vendors' samples. The kernels are our own.

    python3 generate_suites.py              # all cases and the table of README.md
    python3 generate_suites.py lud md5      # some of them

Goldens are numpy in double precision, Python integers or Python's own libraries, never an OpenCL implementation. Float tolerances are
derived: the golden is computed with `E`, a double that carries a bound of the rounding errors a float32 (or float64) evaluation in the
kernel's order may have made; contraction to fma only makes them smaller. Where a comparison of inexact values decides an integer, the
generator asserts that it is not within the bound. Seeded by name: it always writes the same bytes.
"""

import base64
import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
U32, U64 = 2.0**-24, 2.0**-53
CASES = {}


class E:
    """Doubles with bounds of the error of their evaluation in float32 (u = 2^-24) or float64 (2^-53)."""

    __array_ufunc__ = None

    def __init__(self, v, e=None, u=U32):
        self.v = np.array(v, np.float64)
        if u == U32:
            assert (e is not None) or np.array_equal(self.v.astype(np.float32), self.v), "not a float32"
        self.e = np.zeros(self.v.shape) + (0 if e is None else e)
        self.u = u

    def lift(self, x):
        if isinstance(x, E):
            return x
        return E(np.asarray(x, np.float32 if self.u == U32 else np.float64).astype(np.float64), u=self.u)

    def rounded(self, v, e, times=1.0):
        """`times` is in units of u: 1 for a correctly rounded operation, 2k for k ulp."""
        return E(v, e + times * self.u * (np.abs(v) + e), self.u)

    def __add__(self, b):
        b = self.lift(b)
        return self.rounded(self.v + b.v, self.e + b.e)

    def __sub__(self, b):
        b = self.lift(b)
        return self.rounded(self.v - b.v, self.e + b.e)

    def __rsub__(self, a):
        return self.lift(a) - self

    def __mul__(self, b):
        b = self.lift(b)
        return self.rounded(self.v * b.v, np.abs(self.v) * b.e + np.abs(b.v) * self.e + self.e * b.e)

    def __truediv__(self, b):
        b = self.lift(b)
        low = np.abs(b.v) - b.e
        assert (low > 0).all()
        v = self.v / b.v
        return self.rounded(v, (self.e + np.abs(v) * b.e) / low, 5 if self.u == U32 else 1)  # OpenCL: 2.5 ulp

    def __rtruediv__(self, a):
        return self.lift(a) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return E(-self.v, self.e, self.u)

    def __getitem__(self, i):
        return E(self.v[i], self.e[i], self.u)

    def __setitem__(self, i, x):
        x = self.lift(x)
        self.v[i], self.e[i] = x.v, x.e

    def __len__(self):
        return len(self.v)

    @property
    def T(self):
        return E(self.v.T, self.e.T, self.u)

    @property
    def shape(self):
        return self.v.shape

    def copy(self):
        return E(self.v.copy(), self.e.copy(), self.u)

    def reshape(self, *s):
        return E(self.v.reshape(*s), self.e.reshape(*s), self.u)

    def through(self, f, ulp, floor=-np.inf):
        """A function monotone within the bounds, computed to `ulp` ulp."""
        v = f(self.v)
        e = np.maximum(np.abs(f(self.v + self.e) - v), np.abs(f(np.maximum(self.v - self.e, floor)) - v))
        return self.rounded(v, e, 2 * ulp)

    def exact(self, f):
        """A Lipschitz-1 function without rounding: fabs, max with a constant."""
        return E(f(self.v), self.e, self.u)


def zeros(*shape, u=U32):
    return E(np.zeros(shape), u=u)


def exp(x): return x.through(np.exp, 3)
def exp2(x): return x.through(np.exp2, 3)
def log(x): return x.through(np.log, 3)
def sqrt(x): return x.through(np.sqrt, 3, 0.0)
def rsqrt(x): return x.through(lambda v: 1 / np.sqrt(v), 2)
def sin(x): return x.rounded(np.sin(x.v), x.e, 8) if x.v.size else x
def cos(x): return x.rounded(np.cos(x.v), x.e, 8)
def where(c, a, b): return E(np.where(c, a.v, b.v), np.where(c, a.e, b.e), a.u)
def maximum(a, b): return E(np.maximum(a.v, b.v), np.maximum(a.e, b.e), a.u)
def minimum(a, b): return E(np.minimum(a.v, b.v), np.maximum(a.e, b.e), a.u)
def stack(xs): return E(np.stack([x.v for x in xs]), np.stack([x.e for x in xs]), xs[0].u)


def edge(x):
    """Padded by one with the border's values in all dimensions."""
    return E(np.pad(x.v, 1, mode="edge"), np.pad(x.e, 1, mode="edge"), x.u)


def tree(x):
    """The reduction by halves along the first axis that the kernels do in local memory."""
    n = len(x)
    while n > 1:
        n //= 2
        x = x[:n] + x[n : 2 * n]
    return x[0]


def decided(x, threshold=0.0):
    """x < threshold where the errors cannot change it."""
    t = x.lift(threshold)
    assert (np.abs(x.v - t.v) > x.e + t.e).all(), "a comparison within the rounding errors"
    return x.v < t.v


def up(x):
    """Rounded up to two digits."""
    if x == 0:
        return 0.0
    s = 10.0 ** (int(np.floor(np.log10(x))) - 1)
    return float(f"{(np.floor(x / s) + 1) * s:.2g}")


def inp(array):
    return ("in", np.ascontiguousarray(array))


def out(expect, init=None, atol=0.0):
    """A golden: an E brings its tolerance, all else is exact."""
    if isinstance(expect, E):
        last = expect.u * np.abs(expect.v)  # the golden's own rounding, and for float64 its own evaluation
        atol = up(float((expect.e + last).max()) * (1 if expect.u == U32 else 2))
        expect = expect.v.astype(np.float32 if expect.u == U32 else np.float64)
    expect = np.ascontiguousarray(expect)
    if init is not None:
        init = np.ascontiguousarray(init, expect.dtype)
        assert init.shape == expect.shape
    return ("out", expect, init, atol)


def tmp(dtype, *shape):
    return ("tmp", dtype, list(shape))


def case(suite, idiom):
    def register(f):
        CASES[f.__name__.removeprefix("k_")] = (f, suite, idiom)
        return f

    return register


def launch(kernel, size, local, *args, repeat=1):
    assert len(size) == len(local) and all(g % l == 0 for g, l in zip(size, local)), (kernel, size, local)
    entry = {"kernel": kernel, "global": list(size), "local": list(local), "args": [{"buffer": a} if isinstance(a, str) else a for a in args]}
    if repeat != 1:
        entry["repeat"] = repeat
    return entry


I, UI, F, D, L = (lambda v: {"i32": int(v)}), (lambda v: {"u32": int(v)}), (lambda v: {"f32": v}), (lambda v: {"f64": v}), (lambda v: {"local": v})


def data(form, *values):
    """A structure by value."""
    return {"bytes": base64.b64encode(struct.pack("<" + form, *values)).decode()}


def f32(r, *shape, low=-1.0, high=1.0):
    return r.uniform(low, high, shape).astype(np.float32)


def ceil(n, m):
    return (n + m - 1) // m * m


def write(name):
    make, suite, idiom = CASES[name]
    golden, source, buffers, launches, *options = make(np.random.default_rng(zlib.crc32(name.encode())))
    folder = ROOT / name
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.npy"):
        old.unlink()
    (folder / "kernel.cl").write_text(f"// golden: {golden}\n{source.strip()}\n")
    entries = {}
    for b, (kind, *rest) in buffers.items():
        if kind == "in":
            np.save(folder / f"{b}.npy", rest[0])
            entries[b] = {"npy": f"{b}.npy", "expect": f"{b}.npy"}
        elif kind == "tmp":
            entries[b] = {"zeros": rest[1], "dtype": np.dtype(rest[0]).name}
        else:
            expect, init, atol = rest
            np.save(folder / f"{b}.expect.npy", expect)
            if init is None:
                entries[b] = {"zeros": list(expect.shape), "dtype": expect.dtype.name}
            else:
                np.save(folder / f"{b}.npy", init)
                entries[b] = {"npy": f"{b}.npy"}
            entries[b].update({"expect": f"{b}.expect.npy", "rtol": 0.0, "atol": atol})
    show = lambda d: ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in d.items())
    option = f'  "options": {json.dumps(options)},\n' if options else ""
    lines = ",\n".join(f"    {json.dumps(l)}" for l in launches)
    (folder / "case.json").write_text(f'{{\n  "source": "kernel.cl",\n{option}  "buffers": {{\n{show(entries)}\n  }},\n  "launches": [\n{lines}\n  ]\n}}\n')


#
# Streams with reuse
#


@case("PolyBench, vendor samples", "a matrix that streams, a vector that every work-item reads")
def matvec(r):
    rows, cols = 149, 53
    a, x = f32(r, cols, rows), f32(r, cols)
    y = zeros(rows)
    for k in range(cols):
        y = y + E(a[k]) * E(x[k])
    return "numpy float64 with error bounds", """
// One row a work-item: the walk down the columns is coalesced.
__kernel void matvec(__global const float *a, __global const float *x, __global float *y, int rows, int cols) {
  int row = get_global_id(0);
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int k = 0; k < cols; k++)
    sum += a[k * rows + row] * x[k];
  y[row] = sum;
}""", {"a": inp(a), "x": inp(x), "y": out(y)}, [launch("matvec", [160], [40], "a", "x", "y", I(rows), I(cols))]


@case("Rodinia kmeans", "points that stream, centroids read at uniform indices and then gathered by membership")
def kmeans_assign(r):
    n, dims, k = 203, 11, 5
    p, c = f32(r, dims, n), f32(r, dims, k)
    dist = zeros(k, n)
    for j in range(dims):
        d = E(p[j])[None, :] - E(c[j])[:, None]
        dist = dist + d * d
    order = np.argsort(dist.v, 0)
    first, second = (E(np.take_along_axis(dist.v, order[i : i + 1], 0), np.take_along_axis(dist.e, order[i : i + 1], 0)) for i in (0, 1))
    decided(first - second)
    member = order[0].astype(np.int32)
    residual = E(p) - E(c[:, member])
    return "numpy float64 with error bounds", """
// Points and centroids as structures of arrays. K is the number of centroids.
__kernel void assign(__global const float *points, __global const float *centroids, __global int *member, __global float *distance, int n, int dims) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum[K];
  for (int k = 0; k < K; k++)
    sum[k] = 0.0f;
  for (int j = 0; j < dims; j++) {
    float v = points[j * n + i];
    for (int k = 0; k < K; k++) {
      float d = v - centroids[j * K + k];
      sum[k] += d * d;
    }
  }
  int best = 0;
  float least = sum[0];
  for (int k = 1; k < K; k++)
    if (sum[k] < least) {
      least = sum[k];
      best = k;
    }
  member[i] = best;
  distance[i] = least;
}
__kernel void lookup(__global const float *points, __global const float *centroids, __global const int *member, __global float *residual, int n, int dims) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  int m = member[i];
  for (int j = 0; j < dims; j++)
    residual[j * n + i] = points[j * n + i] - centroids[j * K + m];
}""", {"points": inp(p), "centroids": inp(c), "member": out(member), "distance": out(first[0]), "residual": out(residual)}, [
        launch("assign", [210], [42], "points", "centroids", "member", "distance", I(n), I(dims)),
        launch("lookup", [210], [70], "points", "centroids", "member", "residual", I(n), I(dims))], "-DK=5"


@case("Parboil, vendor samples", "2-D convolution of a padded image: filter and rows reused, output streams")
def conv_stream(r):
    w, h, f = 53, 29, 5
    image, filt = f32(r, h + f - 1, w + f - 1), f32(r, f, f)
    y = zeros(h, w)
    for i in range(f):
        for j in range(f):
            y = y + E(image[i : i + h, j : j + w]) * E(filt[i, j])
    return "numpy float64 with error bounds", """
// The input has SIZE - 1 rows and columns more than the output.
__kernel void convolve(__global const float *in, __global const float *filter, __global float *out, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  __global const float *from = in + y * (w + SIZE - 1) + x;
  float sum = 0.0f;
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++)
      sum += from[i * (w + SIZE - 1) + j] * filter[i * SIZE + j];
  out[y * w + x] = sum;
}""", {"in": inp(image), "filter": inp(filt), "out": out(y)}, [launch("convolve", [60, 30], [20, 3], "in", "filter", "out", I(w), I(h))], f"-DSIZE={f}"


@case("vendor samples", "a table gathered at streamed indices")
def gather_table(r):
    n, size = 777, 96
    table, idx, w = f32(r, size), r.integers(0, size, n).astype(np.int32), f32(r, n)
    return "numpy float64; one rounding", """
__kernel void gather(__global const float *table, __global const int *idx, __global const float *w, __global float *out, int n) {
  int i = get_global_id(0);
  if (i < n)
    out[i] = table[idx[i]] * w[i];
}""", {"table": inp(table), "idx": inp(idx), "w": inp(w), "out": out((table[idx].astype(np.float64) * w).astype(np.float32))}, [
        launch("gather", [800], [80], "table", "idx", "w", "out", I(n))]


@case("vendor samples", "rows of a table gathered at streamed indices, scaled by streamed rows (an embedding layer)")
def table_rows(r):
    n, size = 331, 48
    table, idx, w = f32(r, size, 4), r.integers(0, size, n).astype(np.int32), f32(r, n, 4)
    return "numpy float64; one rounding", """
__kernel void scaled_rows(__global const float4 *table, __global const int *idx, __global const float4 *w, __global float4 *out, int n) {
  int i = get_global_id(0);
  if (i < n)
    out[i] = table[idx[i]] * w[i];
}""", {"table": inp(table), "idx": inp(idx), "w": inp(w), "out": out((table[idx].astype(np.float64) * w).astype(np.float32))}, [
        launch("scaled_rows", [352], [32], "table", "idx", "w", "out", I(n))]


@case("vendor samples", "matrix times vector by rows: a work-group walks along its row, every row reads the whole vector; a local sum")
def row_dot(r):
    rows, cols, size = 21, 151, 32
    a, x = f32(r, rows, cols), f32(r, cols)
    parts = [zeros(rows) for _ in range(size)]
    for k in range(cols):
        parts[k % size] = parts[k % size] + E(a[:, k]) * E(x[k])
    half = size // 2
    while half:
        for i in range(half):
            parts[i] = parts[i] + parts[i + half]
        half //= 2
    return "numpy float64 with error bounds", """
__kernel void row_dot(__global const float *a, __global const float *x, __global float *y, __local float *part, int cols) {
  int row = get_group_id(0), l = get_local_id(0), n = get_local_size(0);
  float sum = 0.0f;
  for (int k = l; k < cols; k += n)
    sum += a[row * cols + k] * x[k];
  part[l] = sum;
  for (int reach = n / 2; reach; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < reach)
      part[l] += part[l + reach];
  }
  if (l == 0)
    y[row] = part[0];
}""", {"a": inp(a), "x": inp(x), "y": out(parts[0])}, [launch("row_dot", [rows * size], [size], "a", "x", "y", {"local": 4 * size}, I(cols))]


#
# Linear algebra
#


@case("PolyBench atax", "a matrix read along rows, then along columns")
def atax(r):
    m, n = 45, 61
    a, x = f32(r, m, n), f32(r, n)
    t, y = zeros(m), zeros(n)
    for k in range(n):
        t = t + E(a[:, k]) * E(x[k])
    for k in range(m):
        y = y + E(a[k]) * t[k]
    return "numpy float64 with error bounds", """
__kernel void ax(__global const float *a, __global const float *x, __global float *t, int m, int n) {
  int i = get_global_id(0);
  if (i < m) {
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
      sum += a[i * n + j] * x[j];
    t[i] = sum;
  }
}
__kernel void aty(__global const float *a, __global const float *t, __global float *y, int m, int n) {
  int j = get_global_id(0);
  if (j < n) {
    y[j] = 0.0f;
    for (int i = 0; i < m; i++)
      y[j] += a[i * n + j] * t[i];
  }
}""", {"a": inp(a), "x": inp(x), "t": out(t), "y": out(y)}, [launch("ax", [48], [24], "a", "x", "t", I(m), I(n)), launch("aty", [72], [24], "a", "t", "y", I(m), I(n))]


@case("PolyBench bicg, mvt", "A·p and its transpose times r in one launch, by group; double precision")
def bicg(r):
    m, n = 39, 50
    a, p, q = r.standard_normal((m, n)), r.standard_normal(n), r.standard_normal(m)
    y, s = zeros(m, u=U64), zeros(n, u=U64)
    for k in range(n):
        y = y + E(a[:, k], u=U64) * E(p[k], u=U64)
    for k in range(m):
        s = s + E(a[k], u=U64) * E(q[k], u=U64)
    return "numpy float64 with error bounds", """
__kernel void bicg(__global const double *a, __global const double *p, __global const double *r, __global double *q, __global double *s, int m, int n) {
  int i = get_local_id(0);
  double sum = 0.0;
  if (get_group_id(0) == 0) {
    if (i >= m)
      return;
    for (int j = 0; j < n; j++)
      sum += a[i * n + j] * p[j];
    q[i] = sum;
  } else {
    if (i >= n)
      return;
    for (int j = 0; j < m; j++)
      sum += a[j * n + i] * r[j];
    s[i] = sum;
  }
}""", {"a": inp(a), "p": inp(p), "r": inp(q), "q": out(y), "s": out(s)}, [launch("bicg", [104], [52], "a", "p", "r", "q", "s", I(m), I(n))]


@case("PolyBench gesummv", "two matrices in one loop; four rows a work-item in a float4")
def gesummv(r):
    n = 44
    a, b, x = f32(r, n, n), f32(r, n, n), f32(r, n)
    s, t = zeros(n), zeros(n)
    for k in range(n):
        s = s + E(a[k]) * E(x[k])
        t = t + E(b[k]) * E(x[k])
    y = s * 1.5 + t * -0.75
    return "numpy float64 with error bounds", """
// The matrices are stored by columns.
__kernel void gesummv(__global const float4 *a, __global const float4 *b, __global const float *x, __global float4 *y, float alpha, float beta, int n) {
  int i = get_global_id(0), quads = n / 4;
  float4 s = (float4)(0.0f), t = 0.0f;
  for (int k = 0; k < n; k++) {
    s += a[k * quads + i] * x[k];
    t += b[k * quads + i] * x[k];
  }
  y[i] = alpha * s + beta * t;
}""", {"a": inp(a), "b": inp(b), "x": inp(x), "y": out(y)}, [launch("gesummv", [n // 4], [n // 4], "a", "b", "x", "y", F(1.5), F(-0.75), I(n))]


@case("PolyBench 2mm, 3mm", "three dependent products of rectangular matrices")
def mm3(r):
    p, q, s, t, v = 19, 23, 17, 29, 21
    a, b, c, d = f32(r, p, q), f32(r, q, s), f32(r, s, t), f32(r, t, v)

    def mul(x, y):
        z = zeros(x.shape[0], y.shape[1])
        for k in range(x.shape[1]):
            z = z + x[:, k : k + 1] * y[k : k + 1, :]
        return z

    e, f = mul(E(a), E(b)), mul(E(c), E(d))
    g = mul(e, f)
    L_ = lambda x, y, z, m, k, n: launch("mm", [ceil(n, 8), ceil(m, 5)], [8, 5], x, y, z, I(m), I(k), I(n))
    return "numpy float64 with error bounds", """
__kernel void mm(__global const float *a, __global const float *b, __global float *c, int m, int k, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= m)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++)
    sum = fma(a[y * k + i], b[i * n + x], sum);
  c[y * n + x] = sum;
}""", {"a": inp(a), "b": inp(b), "c": inp(c), "d": inp(d), "e": out(e), "f": out(f), "g": out(g)}, [
        L_("a", "b", "e", p, q, s), L_("c", "d", "f", s, t, v), L_("e", "f", "g", p, s, v)]


@case("PolyBench syrk, syr2k", "a triangle of a symmetric update; lanes beyond the diagonal leave")
def syr2k(r):
    n, m = 33, 14
    a, b, c = f32(r, n, m), f32(r, n, m), f32(r, n, n)
    z = E(c) * 0.5
    for k in range(m):
        A, B = E(a[:, k]), E(b[:, k])
        z = z + (A[:, None] * 1.25 * B[None, :] + B[:, None] * 1.25 * A[None, :])
    upper = np.triu(np.ones((n, n), bool), 1)
    z.v[upper], z.e[upper] = c[upper], 0
    return "numpy float64 with error bounds", """
__kernel void syr2k(__global const float *a, __global const float *b, __global float *c, float alpha, float beta, int n, int m) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i >= n || j > i)
    return;
  float sum = c[i * n + j] * beta;
  for (int k = 0; k < m; k++)
    sum += a[i * m + k] * alpha * b[j * m + k] + b[i * m + k] * alpha * a[j * m + k];
  c[i * n + j] = sum;
}""", {"a": inp(a), "b": inp(b), "c": out(z, init=c)}, [launch("syr2k", [36, 36], [12, 4], "a", "b", "c", F(1.25), F(0.5), I(n), I(m))]


@case("PolyBench trisolv", "forward substitution: one unknown at a time in one work-group, local memory")
def trisolv(r):
    n = 47
    l = np.tril(r.uniform(-1, 1, (n, n))) / 8
    l[np.arange(n), np.arange(n)] = r.uniform(1, 2, n)
    b = r.uniform(-1, 1, n)
    s, x = E(b, u=U64), zeros(n, u=U64)
    for k in range(n):
        x[k] = s[k] / l[k, k]
        s = s - E(l[:, k], u=U64) * x[k]
    return "numpy float64 with error bounds", """
__kernel void trisolv(__global const double *l, __global const double *b, __global double *x, __local double *now, int n) {
  int i = get_local_id(0);
  double rest = i < n ? b[i] : 0.0;
  for (int k = 0; k < n; k++) {
    if (i == k) {
      *now = rest / l[k * n + k];
      x[k] = *now;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i > k && i < n)
      rest -= l[i * n + k] * *now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}""", {"l": inp(l), "b": inp(b), "x": out(x)}, [launch("trisolv", [50], [50], "l", "b", "x", L(8), I(n))]


@case("PolyBench doitgen", "a tensor times a matrix in three dimensions; a copy back")
def doitgen(r):
    nr, nq, np_ = 5, 7, 19
    a, c = f32(r, nr, nq, np_), f32(r, np_, np_)
    s = zeros(nr, nq, np_)
    for k in range(np_):
        s = s + E(a[:, :, k : k + 1]) * E(c[k])
    return "numpy float64 with error bounds", """
__kernel void product(__global const float *a, __global const float *c, __global float *sum, int np) {
  int p = get_global_id(0), q = get_global_id(1), r = get_global_id(2), nq = get_global_size(1);
  if (p >= np)
    return;
  int row = (r * nq + q) * np;
  float s = 0.0f;
  for (int k = 0; k < np; k++)
    s += a[row + k] * c[k * np + p];
  sum[row + p] = s;
}
__kernel void back(__global float *a, __global const float *sum) {
  size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  a[i] = sum[i];
}""", {"a": out(s, init=a), "c": inp(c), "sum": tmp("float32", nr, nq, np_)}, [
        launch("product", [20, nq, nr], [10, 7, 1], "a", "c", "sum", I(np_)), launch("back", [np_, nq, nr], [19, 1, 5], "a", "sum")]


@case("PolyBench correlation, covariance", "means, deviations, a guarded division, a symmetric product")
def correlation(r):
    n, m = 37, 22
    x = f32(r, n, m)
    x[:, 5] = 2.0  # no deviation
    X = E(x)
    mean = zeros(m)
    for k in range(n):
        mean = mean + X[k]
    mean = mean / n
    var = zeros(m)
    for k in range(n):
        d = X[k] - mean
        var = var + d * d
    dev = sqrt(var / n)
    dev = where(decided(dev, 0.1), E(np.ones(m)), dev)
    z = (X - mean) / (sqrt(E(np.float64(n))) * dev)
    c = zeros(m, m)
    for k in range(n):
        c = c + z[k][:, None] * z[k][None, :]
    i = np.arange(m)
    c.v[i, i], c.e[i, i] = 1, 0
    return "numpy float64 with error bounds", """
__kernel void moments(__global const float *x, __global float *mean, __global float *dev, int n, int m) {
  int j = get_global_id(0);
  if (j >= m)
    return;
  float s = 0.0f;
  for (int i = 0; i < n; i++)
    s += x[i * m + j];
  float mu = s / n, v = 0.0f;
  for (int i = 0; i < n; i++) {
    float d = x[i * m + j] - mu;
    v += d * d;
  }
  v = sqrt(v / n);
  mean[j] = mu;
  dev[j] = v < 0.1f ? 1.0f : v;
}
__kernel void normalise(__global float *x, __global const float *mean, __global const float *dev, int n, int m) {
  int j = get_global_id(0), i = get_global_id(1);
  if (j < m)
    x[i * m + j] = (x[i * m + j] - mean[j]) / (sqrt((float)n) * dev[j]);
}
__kernel void correlate(__global const float *x, __global float *c, int n, int m) {
  int i = get_global_id(0);
  if (i >= m)
    return;
  c[i * m + i] = 1.0f;
  for (int j = i + 1; j < m; j++) {
    float s = 0.0f;
    for (int k = 0; k < n; k++)
      s += x[k * m + i] * x[k * m + j];
    c[i * m + j] = s;
    c[j * m + i] = s;
  }
}""", {"x": out(z, init=x), "mean": out(mean), "dev": out(dev), "c": out(c)}, [
        launch("moments", [24], [24], "x", "mean", "dev", I(n), I(m)), launch("normalise", [24, n], [8, 1], "x", "mean", "dev", I(n), I(m)),
        launch("correlate", [24], [8], "x", "c", I(n), I(m))]


@case("PolyBench gramschmidt", "a norm by reduction in local memory, projections of the later columns; 27 launches")
def gramschmidt(r):
    m, n = 21, 9
    a0 = r.standard_normal((m, n)) + 3 * np.eye(m, n)
    a, q, R = E(a0, u=U64), zeros(m, n, u=U64), zeros(n, n, u=U64)
    for k in range(n):
        parts = zeros(16, u=U64)
        for i in range(m):
            parts[i % 16] = parts[i % 16] + a[i, k] * a[i, k]
        R[k, k] = sqrt(tree(parts))
        q[:, k] = a[:, k] / R[k, k]
        s = zeros(n - k - 1, u=U64)
        for i in range(m):
            s = s + q[i, k] * a[i, k + 1 :]
        R[k, k + 1 :] = s
        a[:, k + 1 :] = a[:, k + 1 :] - q[:, k : k + 1] * s[None, :]
    launches = []
    for k in range(n):
        launches += [launch("norm", [16], [16], "a", "r", I(m), I(n), I(k)), launch("scale", [24], [12], "a", "r", "q", I(m), I(n), I(k)),
                     launch("project", [9], [9], "a", "r", "q", I(m), I(n), I(k))]
    return "numpy float64 with error bounds", """
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void norm(__global const double *a, __global double *r, int m, int n, int k) {
  __local double s[16];
  int t = get_local_id(0);
  double sum = 0.0;
  for (int i = t; i < m; i += 16)
    sum += a[i * n + k] * a[i * n + k];
  s[t] = sum;
  for (int half_size = 8; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_size)
      s[t] += s[t + half_size];
  }
  if (t == 0)
    r[k * n + k] = sqrt(s[0]);
}
__kernel void scale(__global const double *a, __global const double *r, __global double *q, int m, int n, int k) {
  int i = get_global_id(0);
  if (i < m)
    q[i * n + k] = a[i * n + k] / r[k * n + k];
}
__kernel void project(__global double *a, __global double *r, __global const double *q, int m, int n, int k) {
  int j = get_global_id(0);
  if (j <= k)
    return;
  double s = 0.0;
  for (int i = 0; i < m; i++)
    s += q[i * n + k] * a[i * n + j];
  r[k * n + j] = s;
  for (int i = 0; i < m; i++)
    a[i * n + j] -= q[i * n + k] * s;
}""", {"a": out(a, init=a0), "q": out(q), "r": out(R)}, launches


@case("Rodinia lud", "blocked LU: diagonal, perimeter and interior kernels over local tiles")
def lud(r):
    b, blocks = 6, 4
    n = b * blocks
    a0 = f32(r, n, n)
    a0[np.arange(n), np.arange(n)] += 6
    a = E(a0)
    for k in range(n):
        a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k + 1 :] = a[k + 1 :, k + 1 :] - a[k + 1 :, k : k + 1] * a[k : k + 1, k + 1 :]
    launches = []
    for k in range(blocks):
        launches.append(launch("diagonal", [b], [b], "a", I(n), I(k * b)))
        rest = blocks - k - 1
        if rest:
            launches.append(launch("perimeter", [rest * 2 * b], [2 * b], "a", I(n), I(k * b)))
            launches.append(launch("interior", [rest * b, rest * b], [b, b], "a", I(n), I(k * b)))
    return "numpy float64 with error bounds; unblocked, every element is updated in the same order", """
#define B 6
__kernel void diagonal(__global float *a, int n, int at) {
  __local float s[B][B];
  int t = get_local_id(0);
  for (int i = 0; i < B; i++)
    s[i][t] = a[(at + i) * n + at + t];
  for (int k = 0; k < B - 1; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t > k) {
      s[t][k] /= s[k][k];
      for (int j = k + 1; j < B; j++)
        s[t][j] -= s[t][k] * s[k][j];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < B; i++)
    a[(at + i) * n + at + t] = s[i][t];
}
// The first half of a group solves a column of the block to the right, the second half a row of the block below.
__kernel void perimeter(__global float *a, int n, int at) {
  __local float s[B][B];
  int t = get_local_id(0), other = at + B * (get_group_id(0) + 1);
  if (t < B)
    for (int i = 0; i < B; i++)
      s[i][t] = a[(at + i) * n + at + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < B) {
    for (int i = 1; i < B; i++) {
      float v = a[(at + i) * n + other + t];
      for (int k = 0; k < i; k++)
        v -= s[i][k] * a[(at + k) * n + other + t];
      a[(at + i) * n + other + t] = v;
    }
  } else {
    int row = (other + t - B) * n + at;
    for (int j = 0; j < B; j++) {
      float v = a[row + j];
      for (int k = 0; k < j; k++)
        v -= a[row + k] * s[k][j];
      a[row + j] = v / s[j][j];
    }
  }
}
__kernel void interior(__global float *a, int n, int at) {
  __local float l[B][B], u[B][B];
  int x = get_local_id(0), y = get_local_id(1);
  int column = at + B + get_global_id(0), row = at + B + get_global_id(1);
  l[y][x] = a[row * n + at + x];
  u[y][x] = a[(at + y) * n + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  float v = a[row * n + column];
  for (int k = 0; k < B; k++)
    v -= l[y][k] * u[k][x];
  a[row * n + column] = v;
}""", {"a": out(a, init=a0)}, launches


@case("Rodinia gaussian", "elimination by two kernels a column, then back substitution by one work-item")
def gaussian(r):
    n = 18
    a0, b0 = f32(r, n, n), f32(r, n)
    a0[np.arange(n), np.arange(n)] += 5
    a, b, x = E(a0), E(b0), zeros(n)
    mult = zeros(n, n)
    for t in range(n - 1):
        m = a[t + 1 :, t] / a[t, t]
        mult[t + 1 :, t] = m
        a[t + 1 :, t:] = a[t + 1 :, t:] - m[:, None] * a[t : t + 1, t:]
        b[t + 1 :] = b[t + 1 :] - m * b[t]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(n - 1, i, -1):
            s = s - a[i, j] * x[j]
        x[i] = s / a[i, i]
    launches = []
    for t in range(n - 1):
        launches += [launch("fan1", [20], [20], "a", "m", I(n), I(t)), launch("fan2", [20, 20], [10, 4], "a", "b", "m", I(n), I(t))]
    return "numpy float64 with error bounds", """
__kernel void fan1(__global const float *a, __global float *m, int n, int t) {
  int i = get_global_id(0) + t + 1;
  if (i < n)
    m[i * n + t] = a[i * n + t] / a[t * n + t];
}
__kernel void fan2(__global float *a, __global float *b, __global const float *m, int n, int t) {
  int j = get_global_id(0) + t, i = get_global_id(1) + t + 1;
  if (i >= n || j >= n)
    return;
  a[i * n + j] -= m[i * n + t] * a[t * n + j];
  if (j == t)
    b[i] -= m[i * n + t] * b[t];
}
__kernel void back(__global const float *a, __global const float *b, __global float *x, int n) {
  for (int i = n - 1; i >= 0; i--) {
    float s = b[i];
    for (int j = n - 1; j > i; j--)
      s -= a[i * n + j] * x[j];
    x[i] = s / a[i * n + i];
  }
}""", {"a": out(a, init=a0), "b": out(b, init=b0), "m": out(mult), "x": out(x)}, launches + [launch("back", [1], [1], "a", "b", "x", I(n))]


@case("PolyBench fdtd-2d", "three fields updated in turn, time-dependent border")
def fdtd2d(r):
    nx, ny, steps = 26, 35, 3
    ex0, ey0, hz0 = f32(r, nx, ny), f32(r, nx, ny), f32(r, nx, ny)
    ex, ey, hz = E(ex0), E(ey0), E(hz0)
    launches = []
    for t in range(steps):
        ey[1:] = ey[1:] - (hz[1:] - hz[:-1]) * 0.5
        ey[0] = E(np.full(ny, float(t)))
        ex[:, 1:] = ex[:, 1:] - (hz[:, 1:] - hz[:, :-1]) * 0.5
        hz[:-1, :-1] = hz[:-1, :-1] - (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]) * 0.7
        size = [ceil(ny, 12), ceil(nx, 4)]
        launches += [launch("step_e", size, [12, 4], "ex", "ey", "hz", I(nx), I(ny), I(t)), launch("step_h", size, [12, 2], "ex", "ey", "hz", I(nx), I(ny))]
    return "numpy float64 with error bounds", """
__kernel void step_e(__global float *ex, __global float *ey, __global const float *hz, int nx, int ny, int t) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i >= nx || j >= ny)
    return;
  int at = i * ny + j;
  ey[at] = i == 0 ? (float)t : ey[at] - 0.5f * (hz[at] - hz[at - ny]);
  if (j > 0)
    ex[at] -= 0.5f * (hz[at] - hz[at - 1]);
}
__kernel void step_h(__global const float *ex, __global const float *ey, __global float *hz, int nx, int ny) {
  int j = get_global_id(0), i = get_global_id(1), at = i * ny + j;
  if (i < nx - 1 && j < ny - 1)
    hz[at] -= 0.7f * (ex[at + 1] - ex[at] + ey[at + ny] - ey[at]);
}""", {"ex": out(ex, init=ex0), "ey": out(ey, init=ey0), "hz": out(hz, init=hz0)}, launches


@case("PolyBench seidel-2d", "red-black Gauss-Seidel in place: two colours a sweep")
def seidel_redblack(r):
    w, h = 31, 22
    a0 = f32(r, h, w)
    a = E(a0)
    yy, xx = np.mgrid[1 : h - 1, 1 : w - 1]
    launches = []
    for colour in (0, 1, 0, 1):
        new = (a[:-2, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1]) * 0.25
        a[1:-1, 1:-1] = where((xx + yy) % 2 == colour, new, a[1:-1, 1:-1])
        launches.append(launch("sweep", [32, 20], [16, 2], "a", I(w), I(h), I(colour)))
    return "numpy float64 with error bounds", """
__kernel void sweep(__global float *a, int w, int h, int colour) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1, at = y * w + x;
  if (x >= w - 1 || y >= h - 1 || ((x + y) & 1) != colour)
    return;
  a[at] = (a[at - w] + a[at - 1] + a[at + 1] + a[at + w]) * 0.25f;
}""", {"a": out(a, init=a0)}, launches


@case("PolyBench adi", "tridiagonal systems by elimination, along rows and then columns; private recurrences")
def adi(r):
    n = 20
    x0 = f32(r, n, n)
    x = E(x0)

    def sweep(x):
        c, d = zeros(n, n), zeros(n, n)
        c[0], d[0] = E(np.full(n, -1.0)) / 4.0, x[0] / 4.0
        for k in range(1, n):
            low = 4.0 + c[k - 1]
            c[k] = -1.0 / low
            d[k] = (x[k] + d[k - 1]) / low
        y = zeros(n, n)
        y[n - 1] = d[n - 1]
        for k in range(n - 2, -1, -1):
            y[k] = d[k] - c[k] * y[k + 1]
        return y

    x = sweep(x.T).T
    x = sweep(x)
    return "numpy float64 with error bounds", """
// Solves -x[k-1] + 4 x[k] - x[k+1] = b[k] along a line of stride `along`; lines are `across` apart.
__kernel void sweep(__global float *x, __global float *c, int n, int along, int across) {
  int line = get_global_id(0);
  if (line >= n)
    return;
  int at = line * across;
  float cc = -1.0f / 4.0f, d = x[at] / 4.0f;
  c[at] = cc;
  x[at] = d;
  for (int k = 1; k < n; k++) {
    at += along;
    float low = 4.0f + cc;
    cc = -1.0f / low;
    d = (x[at] + d) / low;
    c[at] = cc;
    x[at] = d;
  }
  for (int k = n - 2; k >= 0; k--) {
    at -= along;
    d = x[at] - c[at] * d;
    x[at] = d;
  }
}""", {"x": out(x, init=x0), "c": tmp("float32", n, n)}, [launch("sweep", [24], [8], "x", "c", I(n), I(1), I(n)), launch("sweep", [24], [12], "x", "c", I(n), I(n), I(1))]


@case("PolyBench, vendor samples", "all shortest paths: one launch a pivot, with the path's last hop")
def floyd_warshall(r):
    n = 23
    big = 1 << 20
    d0 = np.where(r.random((n, n)) < 0.25, r.integers(1, 50, (n, n)), big).astype(np.int32)
    d0[np.arange(n), np.arange(n)] = 0
    d, hop = d0.copy(), np.full((n, n), -1, np.int32)
    for k in range(n):
        via = d[:, k : k + 1] + d[k : k + 1, :]
        better = via < d
        d, hop = np.where(better, via, d).astype(np.int32), np.where(better, k, hop).astype(np.int32)
    return "numpy integers", """
__kernel void relax(__global int *d, __global int *hop, int n, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i >= n || j >= n)
    return;
  int via = d[i * n + k] + d[k * n + j];
  if (via < d[i * n + j]) {
    d[i * n + j] = via;
    hop[i * n + j] = k;
  }
}""", {"d": out(d, init=d0), "hop": out(hop, init=np.full((n, n), -1))}, [launch("relax", [24, 24], [24, 3], "d", "hop", I(n), I(k)) for k in range(n)]


@case("SHOC spmv", "sparse rows padded to one length, stored by columns")
def spmv_ell(r):
    n, width = 131, 9
    length = r.integers(0, width + 1, n)
    col = np.where(np.arange(width)[:, None] < length, r.integers(0, n, (width, n)), -1).astype(np.int32)
    val, x = f32(r, width, n), f32(r, n)
    y = zeros(n)
    for k in range(width):
        y = where(col[k] >= 0, y + E(val[k]) * E(x[col[k]]), y)
    return "numpy float64 with error bounds", """
__kernel void spmv(__global const int *column, __global const float *value, __global const float *x, __global float *y, int n, int width) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = 0; k < width; k++) {
    int c = column[k * n + i];
    if (c < 0)
      break;
    sum += value[k * n + i] * x[c];
  }
  y[i] = sum;
}""", {"column": inp(col), "value": inp(val), "x": inp(x), "y": out(y)}, [launch("spmv", [135], [45], "column", "value", "x", "y", I(n), I(width))]


@case("Parboil spmv", "jagged diagonals: rows sorted by length, results permuted back")
def spmv_jds(r):
    n = 118
    length = np.sort(r.integers(0, 14, n))[::-1]
    perm = r.permutation(n).astype(np.int32)
    start, cols, vals = [0], [], []
    x = f32(r, n)
    y = zeros(n)
    for k in range(length[0]):
        m = int((length > k).sum())
        c, v = r.integers(0, n, m).astype(np.int32), f32(r, m)
        cols.append(c)
        vals.append(v)
        start.append(start[-1] + m)
        y[:m] = y[:m] + E(v) * E(x[c])
    result = zeros(n)
    result[perm] = y
    return "numpy float64 with error bounds", """
__kernel void spmv(__global const int *start, __global const int *length, __global const int *column, __global const float *value,
                   __global const int *perm, __constant float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = 0, m = length[i]; k < m; k++) {
    int at = start[k] + i;
    sum += value[at] * x[column[at]];
  }
  y[perm[i]] = sum;
}""", {"start": inp(np.array(start, np.int32)), "length": inp(length.astype(np.int32)), "column": inp(np.concatenate(cols)), "value": inp(np.concatenate(vals)),
       "perm": inp(perm), "x": inp(x), "y": out(result)}, [launch("spmv", [120], [30], "start", "length", "column", "value", "perm", "x", "y", I(n))]


#
# Simulation, learning, dynamic programming
#


@case("Rodinia backprop", "layer forward over a local tile with a tree per column, sigmoid, weight update")
def backprop(r):
    n, hidden, tile = 48, 12, 16
    x, w0, old0, delta = f32(r, n), f32(r, n, hidden), f32(r, n, hidden, low=-0.1, high=0.1), f32(r, hidden)
    partial = stack([tree(E(x[g * tile : (g + 1) * tile])[:, None] * E(w0[g * tile : (g + 1) * tile])) for g in range(n // tile)])
    s = zeros(hidden)
    for g in range(n // tile):
        s = s + partial[g]
    y = 1.0 / (1.0 + exp(-s))
    step = E(np.float32(0.3).astype(np.float64)) * E(delta)[None, :] * E(x)[:, None] + E(np.float32(0.2).astype(np.float64)) * E(old0)
    return "numpy float64 with error bounds", """
#define TILE 16
__kernel void forward(__global const float *x, __global const float *w, __global float *partial, __local float *node, __local float *product) {
  int j = get_local_id(0), i = get_local_id(1), hidden = get_local_size(0), row = get_group_id(1) * TILE + i;
  if (j == 0)
    node[i] = x[row];
  barrier(CLK_LOCAL_MEM_FENCE);
  product[i * hidden + j] = node[i] * w[row * hidden + j];
  for (int step = TILE / 2; step > 0; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < step)
      product[i * hidden + j] += product[(i + step) * hidden + j];
  }
  if (i == 0)
    partial[get_group_id(1) * hidden + j] = product[j];
}
__kernel void squash(__global const float *partial, __global float *y, int groups) {
  int j = get_global_id(0), hidden = get_global_size(0);
  float s = 0.0f;
  for (int g = 0; g < groups; g++)
    s += partial[g * hidden + j];
  y[j] = 1.0f / (1.0f + exp(-s));
}
__kernel void adjust(__global float *w, __global float *old, __global const float *delta, __global const float *x) {
  int j = get_global_id(0), i = get_global_id(1), at = i * get_global_size(0) + j;
  float step = 0.3f * delta[j] * x[i] + 0.2f * old[at];
  w[at] += step;
  old[at] = step;
}""", {"x": inp(x), "w": out(E(w0) + step, init=w0), "old": out(step, init=old0), "delta": inp(delta), "partial": out(partial), "y": out(y)}, [
        launch("forward", [hidden, n], [hidden, tile], "x", "w", "partial", L(4 * tile), L(4 * tile * hidden)),
        launch("squash", [hidden], [hidden], "partial", "y", I(n // tile)), launch("adjust", [hidden, n], [hidden, 2], "w", "old", "delta", "x")]


@case("Rodinia hotspot", "two time steps a launch in a local tile whose halo shrinks")
def hotspot(r):
    w, h, t = 41, 27, 12
    temp0, power = f32(r, h, w, low=70, high=90), f32(r, h, w, low=0, high=1)
    temp = E(temp0)
    for _ in range(4):
        p = edge(temp)
        temp = temp + (E(power) + (p[2:, 1:-1] + p[:-2, 1:-1] - temp * 2.0) * 0.1 + (p[1:-1, 2:] + p[1:-1, :-2] - temp * 2.0) * 0.15 + (80.0 - temp) * 0.01) * 0.5
    size = [-(-w // (t - 4)) * t, -(-h // (t - 4)) * t]
    l = lambda a, b: launch("hotspot", size, [t, t], a, "power", b, I(w), I(h))
    return "numpy float64 with error bounds", """
#define T 12
__kernel void hotspot(__global const float *in, __global const float *power, __global float *out, int w, int h) {
  __local float s[2][T][T];
  int lx = get_local_id(0), ly = get_local_id(1);
  int x = (int)get_group_id(0) * (T - 4) + lx - 2, y = (int)get_group_id(1) * (T - 4) + ly - 2;
  int cx = clamp(x, 0, w - 1), cy = clamp(y, 0, h - 1);
  bool inside = x == cx && y == cy;
  float here = in[cy * w + cx], heat = power[cy * w + cx];
  // The neighbours of a border cell outside the chip are the cell itself.
  int left = x > 0 ? lx - 1 : lx, right = x < w - 1 ? lx + 1 : lx, up = y > 0 ? ly - 1 : ly, down = y < h - 1 ? ly + 1 : ly;
  s[0][ly][lx] = here;
  for (int step = 0; step < 2; step++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside && lx > step && lx < T - 1 - step && ly > step && ly < T - 1 - step) {
      here = s[step][ly][lx];
      here += 0.5f * (heat + (s[step][down][lx] + s[step][up][lx] - 2.0f * here) * 0.1f + (s[step][ly][right] + s[step][ly][left] - 2.0f * here) * 0.15f +
                      (80.0f - here) * 0.01f);
      s[1 - step][ly][lx] = here;
    }
  }
  if (inside && lx > 1 && lx < T - 2 && ly > 1 && ly < T - 2)
    out[y * w + x] = here;
}""", {"temp": out(temp, init=temp0), "power": inp(power), "other": tmp("float32", h, w)}, [l("temp", "other"), l("other", "temp")]


@case("Rodinia pathfinder", "dynamic programming by rows, several rows a launch over a halo in local memory")
def pathfinder(r):
    cols, rows, group, depth = 101, 13, 32, 4
    wall = r.integers(0, 10, (rows, cols)).astype(np.int32)
    best = wall[0].astype(np.int64)
    for i in range(1, rows):
        p = np.pad(best, 1, constant_values=1 << 30)
        best = wall[i] + np.minimum(np.minimum(p[:-2], p[1:-1]), p[2:])
    launches = [launch("rows", [-(-cols // (group - 2 * depth)) * group], [group], *ab, "wall", I(cols), I(1 + depth * k), I(depth))
                for k, ab in enumerate([("a", "b"), ("b", "a"), ("a", "b")])]
    return "numpy integers", """
__kernel void rows(__global const int *from, __global int *to, __global const int *wall, int cols, int first, int depth) {
  __local int s[2][32];
  int t = get_local_id(0), n = get_local_size(0);
  int x = (int)get_group_id(0) * (n - 2 * depth) + t - depth;
  bool inside = x >= 0 && x < cols;
  int value = inside ? from[x] : 1 << 28;
  s[0][t] = value;
  for (int k = 0; k < depth; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const int *now = s[k & 1];
    value = min(now[t], min(now[max(t - 1, 0)], now[min(t + 1, n - 1)]));
    value = inside ? value + wall[(first + k) * cols + x] : 1 << 28;
    s[~k & 1][t] = value;
  }
  if (inside && t >= depth && t < n - depth)
    to[x] = value;
}""", {"wall": inp(wall), "a": out(
        # After two launches `a` holds row 8.
        _pathfinder_row(wall, 8), init=wall[0]), "b": out(best.astype(np.int32), init=np.zeros(cols, np.int32))}, launches


def _pathfinder_row(wall, rows):
    best = wall[0].astype(np.int64)
    for i in range(1, rows + 1):
        p = np.pad(best, 1, constant_values=1 << 30)
        best = wall[i] + np.minimum(np.minimum(p[:-2], p[1:-1]), p[2:])
    return best.astype(np.int32)


@case("Rodinia nw", "sequence alignment: diagonals of blocks, a wavefront in local memory within a block")
def needleman_wunsch(r):
    b, blocks, gap = 9, 4, 3
    n = b * blocks
    s, t = r.integers(0, 4, n).astype(np.uint8), r.integers(0, 4, n).astype(np.uint8)
    score = r.integers(-4, 5, (4, 4)).astype(np.int32)
    m = np.zeros((n + 1, n + 1), np.int32)
    m[0, :] = m[:, 0] = -gap * np.arange(n + 1)
    start = m.copy()
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            m[i, j] = max(m[i - 1, j - 1] + score[s[i - 1], t[j - 1]], m[i - 1, j] - gap, m[i, j - 1] - gap)
    launches = []
    for d in range(2 * blocks - 1):
        first = max(0, d - blocks + 1)
        count = min(d, blocks - 1) - first + 1
        launches.append(launch("diagonal", [count * b], [b], "m", "s", "t", "score", I(n + 1), I(d), I(first), I(gap)))
    return "Python integers", """
#define B 9
__kernel void diagonal(__global int *m, __global const uchar *s, __global const uchar *t, __constant int *score, int pitch, int d, int first, int gap) {
  __local int tile[B + 1][B + 1];
  int k = get_local_id(0), by = first + get_group_id(0), bx = d - by;
  int x0 = bx * B, y0 = by * B;
  tile[0][k + 1] = m[y0 * pitch + x0 + k + 1];
  tile[k + 1][0] = m[(y0 + k + 1) * pitch + x0];
  if (k == 0)
    tile[0][0] = m[y0 * pitch + x0];
  int mine = s[y0 + k];
  for (int step = 0; step < 2 * B - 1; step++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = step - k;
    if (x >= 0 && x < B) {
      int with = tile[k][x] + score[mine * 4 + t[x0 + x]];
      tile[k + 1][x + 1] = max(with, max(tile[k][x + 1], tile[k + 1][x]) - gap);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int y = 0; y < B; y++)
    m[(y0 + y + 1) * pitch + x0 + k + 1] = tile[y + 1][k + 1];
}""", {"m": out(m, init=start), "s": inp(s), "t": inp(t), "score": inp(score)}, launches


@case("Rodinia srad", "diffusion coefficients from four differences with divisions, then the update")
def srad(r):
    w, h, q0, lam = 33, 25, 0.05, 0.125
    j0 = f32(r, h, w, low=1, high=2)
    j = E(j0)
    launches = []
    for _ in range(2):
        p = edge(j)
        dn, ds, dw, de = (p[:-2, 1:-1] - j), (p[2:, 1:-1] - j), (p[1:-1, :-2] - j), (p[1:-1, 2:] - j)
        g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j)
        l = (dn + ds + dw + de) / j
        num = g2 * 0.5 - (l * l) * 0.0625
        den = 1.0 + l * 0.25
        q = num / (den * den)
        c = 1.0 / (1.0 + (q - q0) / np.float32(np.float32(q0) * (np.float32(1) + np.float32(q0))))
        c = c.exact(lambda v: np.clip(v, 0, 1))
        pc = edge(c)
        j = j + (c * dn + pc[2:, 1:-1] * ds + c * dw + pc[1:-1, 2:] * de) * lam
        size = [ceil(w, 12), ceil(h, 5)]
        launches += [launch("coefficients", size, [12, 5], "j", "c", I(w), I(h), F(q0), F(float(np.float32(np.float32(q0) * (np.float32(1) + np.float32(q0)))))),
                     launch("update", size, [12, 5], "j", "c", "next", I(w), I(h), F(lam)), launch("copy", [w * h], [w], "next", "j")]
    return "numpy float64 with error bounds", """
typedef struct { float n, s, w, e; } Differences;
Differences differences(__global const float *j, int x, int y, int w, int h) {
  float here = j[y * w + x];
  Differences d;
  d.n = j[max(y - 1, 0) * w + x] - here;
  d.s = j[min(y + 1, h - 1) * w + x] - here;
  d.w = j[y * w + max(x - 1, 0)] - here;
  d.e = j[y * w + min(x + 1, w - 1)] - here;
  return d;
}
__kernel void coefficients(__global const float *j, __global float *c, int w, int h, float q0, float scale) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  float here = j[y * w + x];
  Differences d = differences(j, x, y, w, h);
  float g2 = (d.n * d.n + d.s * d.s + d.w * d.w + d.e * d.e) / (here * here);
  float l = (d.n + d.s + d.w + d.e) / here;
  float den = 1.0f + 0.25f * l;
  float q = (0.5f * g2 - 0.0625f * (l * l)) / (den * den);
  c[y * w + x] = clamp(1.0f / (1.0f + (q - q0) / scale), 0.0f, 1.0f);
}
__kernel void update(__global const float *j, __global const float *c, __global float *next, int w, int h, float lambda) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  Differences d = differences(j, x, y, w, h);
  float here = c[y * w + x], south = c[min(y + 1, h - 1) * w + x], east = c[y * w + min(x + 1, w - 1)];
  next[y * w + x] = j[y * w + x] + lambda * (here * d.n + south * d.s + here * d.w + east * d.e);
}
__kernel void copy(__global const float *from, __global float *to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}""", {"j": out(j, init=j0), "c": out(c), "next": tmp("float32", h, w)}, launches


@case("Rodinia kmeans", "cluster sums by atomics in local and then global memory, fixed point; the new centres")
def kmeans_update(r):
    n, k, dims = 331, 7, 3
    p, m = r.integers(0, 4096, (dims, n)).astype(np.uint16), r.integers(0, k - 1, n).astype(np.int32)  # the last cluster is empty
    sums, counts = np.zeros((k, dims), np.int32), np.bincount(m, minlength=k).astype(np.int32)
    for d in range(dims):
        np.add.at(sums[:, d], m, p[d].astype(np.int32))
    c = where(counts[:, None] > 0, E(sums) / E(np.maximum(counts, 1)[:, None]), E(np.full((k, dims), -1.0)))
    return "numpy integers, one division in float64 with error bounds", """
#define K 7
#define DIMS 3
__kernel void accumulate(__global const ushort *points, __global const int *member, volatile __global int *sums, volatile __global int *counts, int n) {
  volatile __local int s[K * DIMS], c[K];
  int t = get_local_id(0), i = get_global_id(0);
  if (t < K * DIMS)
    s[t] = 0;
  if (t < K)
    c[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    int m = member[i];
    atomic_inc(&c[m]);
    for (int d = 0; d < DIMS; d++)
      atomic_add(&s[m * DIMS + d], points[d * n + i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < K * DIMS)
    atomic_add(&sums[t], s[t]);
  if (t < K)
    atomic_add(&counts[t], c[t]);
}
__kernel void centres(__global const int *sums, __global const int *counts, __global float *centre) {
  int t = get_global_id(0), count = counts[t / DIMS];
  centre[t] = count > 0 ? (float)sums[t] / (float)count : -1.0f;
}""", {"points": inp(p), "member": inp(m), "sums": out(sums), "counts": out(counts), "centre": out(c)}, [
        launch("accumulate", [336], [48], "points", "member", "sums", "counts", I(n)), launch("centres", [k * dims], [k * dims], "sums", "counts", "centre")]


@case("Rodinia nn", "distances and the nearest of every group by a reduction of pairs")
def knn(r):
    n, g = 250, 50
    p = f32(r, n, 2, low=-90, high=90)
    q = E(p) - E(np.array([12.5, -33.25]))
    d = sqrt(q[:, 0] * q[:, 0] + q[:, 1] * q[:, 1])
    rows = d.reshape(n // g, g)
    order = np.argsort(rows.v, 1)
    take = lambda i: E(np.take_along_axis(rows.v, order[:, i : i + 1], 1)[:, 0], np.take_along_axis(rows.e, order[:, i : i + 1], 1)[:, 0])
    decided(take(0) - take(1))
    index = (order[:, 0] + np.arange(n // g) * g).astype(np.int32)
    return "numpy float64 with error bounds", """
__kernel void nearest(__global const float2 *points, __global float *distance, __global float *least, __global int *index, float2 target,
                      __local float *d, __local int *at) {
  int t = get_local_id(0), i = get_global_id(0), n = get_local_size(0);
  float2 v = points[i] - target;
  float mine = sqrt(v.x * v.x + v.y * v.y);
  distance[i] = mine;
  d[t] = mine;
  at[t] = i;
  while (n > 1) {
    int rest = (n + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t + rest < n && d[t + rest] < d[t]) {
      d[t] = d[t + rest];
      at[t] = at[t + rest];
    }
    n = rest;
  }
  if (t == 0) {
    least[get_group_id(0)] = d[0];
    index[get_group_id(0)] = at[0];
  }
}""", {"points": inp(p), "distance": out(d), "least": out(take(0)), "index": out(index)}, [
        launch("nearest", [n], [g], "points", "distance", "least", "index", {"f32": [12.5, -33.25]}, L(4 * g), L(4 * g))]


@case("Rodinia streamcluster", "the gain of opening a centre: weighted distances to a candidate in local memory, switching points")
def streamcluster(r):
    n, dims, candidate = 157, 9, 42
    p, w, cost0 = f32(r, dims, n), f32(r, n, low=0.5, high=2), f32(r, n, low=1, high=9)
    d = zeros(n)
    for j in range(dims):
        t = E(p[j]) - E(p[j, candidate])
        d = d + t * t
    delta = d * E(w) - E(cost0)
    switch = decided(delta)
    lower = where(switch, delta, zeros(n))
    cost = where(switch, d * E(w), E(cost0))
    return "numpy float64 with error bounds", """
__kernel void gain(__global const float *p, __global const float *weight, __global float *cost, __global float *lower, __global uchar *switched,
                   __local float *candidate, int which, int n, int dims) {
  for (int j = get_local_id(0); j < dims; j += get_local_size(0))
    candidate[j] = p[j * n + which];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i >= n)
    return;
  float d = 0.0f;
  for (int j = 0; j < dims; j++) {
    float t = p[j * n + i] - candidate[j];
    d += t * t;
  }
  d *= weight[i];
  float delta = d - cost[i];
  bool better = delta < 0.0f;
  lower[i] = better ? delta : 0.0f;
  switched[i] = better;
  if (better)
    cost[i] = d;
}""", {"p": inp(p), "weight": inp(w), "cost": out(cost, init=cost0), "lower": out(lower), "switched": out(switch.astype(np.uint8))}, [
        launch("gain", [160], [32], "p", "weight", "cost", "lower", "switched", L(4 * dims), I(candidate), I(n), I(dims))]


@case("Rodinia particlefilter", "likelihoods from image samples, normalised weights, a serial prefix sum, resampling by search")
def particle_filter(r):
    n, points, size = 60, 13, 32
    image = r.integers(0, 256, (size, size)).astype(np.uint8)
    pos = r.integers(0, size, (n, 2)).astype(np.int32)
    offs = r.integers(-3, 4, (points, 2)).astype(np.int32)
    s = np.zeros(n, np.int64)
    for dx, dy in offs:
        v = image[(pos[:, 1] + dy) % size, (pos[:, 0] + dx) % size].astype(np.int64)
        s += (v - 100) ** 2 - (v - 228) ** 2
    weight = exp(E(s) / 262144.0)
    total = zeros()
    cdf = zeros(n)
    for i in range(n):
        total = total + weight[i]
        cdf[i] = total
    u = E(np.arange(n)) / float(n) * total + total * np.float32(0.003)
    chosen = []
    for i in range(n):
        chosen.append(int(np.argmin(decided(cdf - u[i]))))
    moved = pos[chosen]
    return "numpy integers and float64 with error bounds", """
__kernel void likelihood(__global const uchar *image, __global const int2 *pos, __constant int2 *offset, __global float *weight, int points, int size) {
  int i = get_global_id(0), s = 0;
  for (int k = 0; k < points; k++) {
    int2 at = (pos[i] + offset[k]) & (size - 1);
    int v = image[at.y * size + at.x];
    s += (v - 100) * (v - 100) - (v - 228) * (v - 228);
  }
  weight[i] = exp((float)s / 262144.0f);
}
__kernel void accumulate(__global const float *weight, __global float *cdf, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    sum += weight[i];
    cdf[i] = sum;
  }
}
__kernel void resample(__global const float *cdf, __global const int2 *pos, __global int2 *moved, __global int *chosen, int n) {
  int i = get_global_id(0);
  float u = (float)i / (float)n * cdf[n - 1] + cdf[n - 1] * 0.003f;
  int low = 0, high = n - 1; // the first with cdf >= u
  while (low < high) {
    int middle = (low + high) / 2;
    if (cdf[middle] < u)
      low = middle + 1;
    else
      high = middle;
  }
  chosen[i] = low;
  moved[i] = pos[low];
}""", {"image": inp(image), "pos": inp(pos), "offset": inp(offs), "weight": out(weight), "cdf": out(cdf), "moved": out(moved.astype(np.int32)), "chosen": out(np.array(chosen, np.int32))}, [
        launch("likelihood", [n], [20], "image", "pos", "offset", "weight", I(points), I(size)), launch("accumulate", [1], [1], "weight", "cdf", I(n)),
        launch("resample", [n], [15], "cdf", "pos", "moved", "chosen", I(n))]


@case("Rodinia b+tree", "a search by cooperating work-items: structures in global memory, a node a step through local memory")
def btree(r):
    order, n, queries = 8, 200, 40
    keys = np.sort(r.choice(5000, n, replace=False)).astype(np.int32)
    values = r.integers(0, 1 << 30, n).astype(np.int32)
    big = 2**31 - 1
    # Levels from the leaves up: a node is (keys[order], children[order]); a key is the least of its child.
    nodes, level = [], []
    for i in range(0, n, order - 1):
        k = keys[i : i + order - 1].tolist()
        nodes.append(k + [big] * (order - len(k)) + list(range(i, i + len(k))) + [-1] * (order - len(k)))
        level.append((k[0], len(nodes) - 1))
    height = 1
    while len(level) > 1:
        above = []
        for i in range(0, len(level), order - 1):
            part = level[i : i + order - 1]
            nodes.append([k for k, _ in part] + [big] * (order - len(part)) + [c for _, c in part] + [-1] * (order - len(part)))
            above.append((part[0][0], len(nodes) - 1))
        level, height = above, height + 1
    root = level[0][1]
    q = np.concatenate([r.choice(keys, queries // 2), r.integers(0, 5000, queries // 2)]).astype(np.int32)
    at = {int(k): int(v) for k, v in zip(keys, values)}
    found = np.array([at.get(int(k), -1) for k in q], np.int32)
    return "a Python dictionary", """
#define ORDER 8
typedef struct { int key[ORDER]; int child[ORDER]; } Node;
// A group searches one key; each work-item looks at one slot.
__kernel void find(__global const Node *nodes, __global const int *values, __global const int *queries, __global int *found, int root, int height) {
  __local int next;
  int t = get_local_id(0), key = queries[get_group_id(0)], at = root;
  for (int h = height; h > 1; h--) {
    __global const Node *node = &nodes[at];
    if (t == 0)
      next = node->child[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t + 1 < ORDER && node->key[t] <= key && key < node->key[t + 1])
      next = node->child[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    at = next;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0)
    found[get_group_id(0)] = -1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (nodes[at].key[t] == key)
    found[get_group_id(0)] = values[nodes[at].child[t]];
}""", {"nodes": inp(np.array(nodes, np.int32)), "values": inp(values), "queries": inp(q), "found": out(found)}, [
        launch("find", [queries * order], [order], "nodes", "values", "queries", "found", I(root), I(height))]


@case("Rodinia lavaMD", "particles in boxes: neighbour lists, positions and charges staged in local memory, exponentials")
def lava_md(r):
    side, per = 3, 10
    boxes = side**2
    pos, charge = f32(r, boxes, per, 4, low=0, high=1), f32(r, boxes, per, low=0.1, high=1)
    lists = []
    for b in range(boxes):
        y, x = divmod(b, side)
        near = [yy * side + xx for yy in range(max(0, y - 1), min(side, y + 2)) for xx in range(max(0, x - 1), min(side, x + 2))]
        lists.append([len(near)] + near + [0] * (9 - len(near)))
    for b in range(boxes):
        pos[b, :, 0] += b % side
        pos[b, :, 1] += b // side
    force = zeros(boxes, per, 4)
    for b in range(boxes):
        me = E(pos[b])
        acc = zeros(per, 4)
        for nb in lists[b][1 : 1 + lists[b][0]]:
            for k in range(per):
                o = E(pos[nb, k])
                d = me[:, :3] - o[:3]
                r2 = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
                u = exp(r2 * -0.5) * E(charge[nb, k])
                acc[:, 0] = acc[:, 0] + u
                fs = u * 2.0
                for c in range(3):
                    acc[:, c + 1] = acc[:, c + 1] + fs * d[:, c]
        force[b] = acc
    return "numpy float64 with error bounds", """
#define PER 10
typedef struct { int count; int near[9]; } Box;
__kernel void forces(__global const Box *boxes, __global const float4 *pos, __global const float *charge, __global float4 *force) {
  __local float4 p[PER];
  __local float q[PER];
  int b = get_group_id(0), t = get_local_id(0);
  float4 me = pos[b * PER + t], sum = (float4)(0.0f);
  __global const Box *box = boxes + b;
  for (int k = 0; k < box->count; k++) {
    int other = box->near[k] * PER + t;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[t] = pos[other];
    q[t] = charge[other];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < PER; i++) {
      float4 d = me - p[i];
      float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
      float u = exp(-0.5f * r2) * q[i];
      sum += (float4)(u, 2.0f * u * d.xyz);
    }
  }
  force[b * PER + t] = sum;
}""", {"boxes": inp(np.array(lists, np.int32)), "pos": inp(pos), "charge": inp(charge), "force": out(force)}, [
        launch("forces", [boxes * per], [per], "boxes", "pos", "charge", "force")]


@case("Rodinia cfd", "Euler fluxes over an unstructured mesh: indirect neighbours, two kinds of border, structures by value")
def cfd_flux(r):
    n = 123
    near = r.integers(0, n, (3, n)).astype(np.int32)
    near[0, :10], near[1, 5:20] = -1, -2
    normal = f32(r, 3, 2, n, low=-0.5, high=0.5)
    rho, mx, my = f32(r, n, low=1, high=2), f32(r, n, low=-0.5, high=0.5), f32(r, n, low=-0.5, high=0.5)
    energy = f32(r, n, low=3, high=5)
    far = np.array([1.5, 0.25, 0.125, 4.0], np.float32)
    v0 = np.stack([rho, mx, my, energy])
    v = [E(x) for x in v0]

    def derive(v):
        u, w = v[1] / v[0], v[2] / v[0]
        p = (v[3] - (u * v[1] + w * v[2]) * 0.5) * 0.4
        return u, w, p

    flux = [zeros(n) for _ in range(4)]
    a = derive(v)
    for k in range(3):
        o = [E(np.where(near[k] == -2, far[c], v0[c][np.maximum(near[k], 0)])) for c in range(4)]
        b = derive(o)
        nx, ny = E(normal[k, 0]), E(normal[k, 1])
        va, vb = a[0] * nx + a[1] * ny, b[0] * nx + b[1] * ny
        s = E(np.full(n, 0.3).astype(np.float32).astype(np.float64))
        inner = [v[0] * va + o[0] * vb - s * (o[0] - v[0]),
                 v[1] * va + a[2] * nx + (o[1] * vb + b[2] * nx) - s * (o[1] - v[1]),
                 v[2] * va + a[2] * ny + (o[2] * vb + b[2] * ny) - s * (o[2] - v[2]),
                 (v[3] + a[2]) * va + (o[3] + b[2]) * vb - s * (o[3] - v[3])]
        wall = [zeros(n), a[2] * nx, a[2] * ny, zeros(n)]
        for c in range(4):
            flux[c] = flux[c] + where(near[k] == -1, wall[c], inner[c] * 0.5)
    result = [v[c] - flux[c] * 0.1 for c in range(4)]
    return "numpy float64 with error bounds", """
typedef struct { float rho, mx, my, energy; } State;
typedef struct { float u, v, p; } Derived;
Derived derive(State s) {
  Derived d = {s.mx / s.rho, s.my / s.rho, 0.0f};
  d.p = 0.4f * (s.energy - 0.5f * (d.u * s.mx + d.v * s.my));
  return d;
}
State load(__global const float *v, int i, int n) {
  State s = {v[i], v[n + i], v[2 * n + i], v[3 * n + i]};
  return s;
}
__kernel void flux(__global const float *v, __global const int *near, __global const float *normal, __global float *out, State far, float dt, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  State me = load(v, i, n), sum = {0.0f, 0.0f, 0.0f, 0.0f};
  Derived a = derive(me);
  for (int k = 0; k < 3; k++) {
    int at = near[k * n + i];
    float nx = normal[2 * k * n + i], ny = normal[(2 * k + 1) * n + i];
    if (at == -1) { // a wall
      sum.mx += a.p * nx;
      sum.my += a.p * ny;
    } else {
      State o;
      if (at == -2)
        o = far;
      else
        o = load(v, at, n);
      Derived b = derive(o);
      float va = a.u * nx + a.v * ny, vb = b.u * nx + b.v * ny;
      sum.rho += 0.5f * (me.rho * va + o.rho * vb - 0.3f * (o.rho - me.rho));
      sum.mx += 0.5f * (me.mx * va + a.p * nx + (o.mx * vb + b.p * nx) - 0.3f * (o.mx - me.mx));
      sum.my += 0.5f * (me.my * va + a.p * ny + (o.my * vb + b.p * ny) - 0.3f * (o.my - me.my));
      sum.energy += 0.5f * ((me.energy + a.p) * va + (o.energy + b.p) * vb - 0.3f * (o.energy - me.energy));
    }
  }
  out[i] = me.rho - dt * sum.rho;
  out[n + i] = me.mx - dt * sum.mx;
  out[2 * n + i] = me.my - dt * sum.my;
  out[3 * n + i] = me.energy - dt * sum.energy;
}""", {"v": inp(v0), "near": inp(near), "normal": inp(normal), "out": out(stack(result))}, [
        launch("flux", [126], [42], "v", "near", "normal", "out", data("4f", *far.tolist()), F(float(np.float32(0.1))), I(n))]


@case("Rodinia myocyte", "membrane equations stepped in registers: double-precision exponentials and divisions")
def myocyte(r):
    n, steps, dt = 45, 12, 0.01
    current = r.uniform(0, 20, n)
    v0 = r.uniform(-70, -58, n)
    u = U64
    v, m, h, k = E(v0, u=u), E(np.full(n, 0.05), u=u), E(np.full(n, 0.6), u=u), E(np.full(n, 0.32), u=u)
    for _ in range(steps):
        am = (v + 40.0) * 0.1 / (1.0 - exp((v + 40.0) * -0.1))
        bm = exp((v + 65.0) * -0.05) * 4.0
        ah = exp((v + 65.0) * -0.05) * 0.07
        bh = 1.0 / (1.0 + exp((v + 35.0) * -0.1))
        an = (v + 55.0) * 0.01 / (1.0 - exp((v + 55.0) * -0.1))
        bn = exp((v + 65.0) * -0.0125) * 0.125
        ina = m * m * m * h * 120.0 * (v - 50.0)
        ik = k * k * k * k * 36.0 * (v + 77.0)
        il = (v + 54.4) * 0.3
        m = m + (am * (1.0 - m) - bm * m) * dt
        h = h + (ah * (1.0 - h) - bh * h) * dt
        k = k + (an * (1.0 - k) - bn * k) * dt
        v = v + (E(current, u=u) - ina - ik - il) * dt
    return "numpy float64 with error bounds", """
__kernel void cells(__global const double *current, __global double *voltage, __global double *gates, double dt, int steps) {
  int i = get_global_id(0), n = get_global_size(0);
  double v = voltage[i], m = 0.05, h = 0.6, k = 0.32;
  for (int s = 0; s < steps; s++) {
    double rest = exp((v + 65.0) * -0.05);
    double am = (v + 40.0) * 0.1 / (1.0 - exp((v + 40.0) * -0.1)), bm = rest * 4.0;
    double ah = rest * 0.07, bh = 1.0 / (1.0 + exp((v + 35.0) * -0.1));
    double an = (v + 55.0) * 0.01 / (1.0 - exp((v + 55.0) * -0.1)), bn = exp((v + 65.0) * -0.0125) * 0.125;
    double ina = m * m * m * h * 120.0 * (v - 50.0), ik = k * k * k * k * 36.0 * (v + 77.0), il = (v + 54.4) * 0.3;
    m += (am * (1.0 - m) - bm * m) * dt;
    h += (ah * (1.0 - h) - bh * h) * dt;
    k += (an * (1.0 - k) - bn * k) * dt;
    v += (current[i] - ina - ik - il) * dt;
  }
  voltage[i] = v;
  gates[i] = m;
  gates[n + i] = h;
  gates[2 * n + i] = k;
}""", {"current": inp(current), "voltage": out(v, init=v0), "gates": out(stack([m, h, k]))}, [launch("cells", [n], [15], "current", "voltage", "gates", D(dt), I(steps))]


@case("Rodinia heartwall", "normalised correlation of a template at every shift, exact integer sums; the best shift by atomics")
def heartwall(r):
    size, t, shifts = 30, 9, 22
    image = r.integers(0, 256, (size, size)).astype(np.uint8)
    template = np.clip(image[7 : 7 + t, 12 : 12 + t].astype(int) + r.integers(-20, 21, (t, t)), 0, 255).astype(np.uint8)
    T = template.astype(np.int64)
    st, stt, n = T.sum(), (T * T).sum(), t * t
    num, den = np.zeros((shifts, shifts), np.int64), np.zeros((shifts, shifts), np.int64)
    for y in range(shifts):
        for x in range(shifts):
            P = image[y : y + t, x : x + t].astype(np.int64)
            num[y, x] = n * (P * T).sum() - P.sum() * st
            den[y, x] = n * (P * P).sum() - P.sum() ** 2
    dt = n * stt - st * st
    f = lambda a: E(a, 0).rounded(np.asarray(a, np.float64), 0)
    score = f(num) / (sqrt(f(den)) * sqrt(f(dt)))
    whole = np.sort((score.v * 1024).ravel())
    assert (whole[-1] // 1) > (whole[-2] + 1) // 1 and abs(whole[-1] % 1 - 0.5) < 0.49
    y, x = divmod(int(score.v.argmax()), shifts)
    best = int(score.v.max() * 1024) << 16 | y << 8 | x
    assert (y, x) == (7, 12)
    return "numpy integers, then float64 with error bounds", """
__kernel void correlate(__global const uchar *image, __global const uchar *template_, __global float *score, volatile __global int *best, int size, int t, int shifts) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= shifts || y >= shifts)
    return;
  int sp = 0, spp = 0, spt = 0, st = 0, stt = 0, n = t * t;
  for (int i = 0; i < t; i++)
    for (int j = 0; j < t; j++) {
      int p = image[(y + i) * size + x + j], q = template_[i * t + j];
      sp += p;
      spp = mad24(p, p, spp);
      spt = mad24(p, q, spt);
      st += q;
      stt += mul24(q, q);
    }
  float s = (float)(n * spt - sp * st) / (sqrt((float)(n * spp - sp * sp)) * sqrt((float)(n * stt - st * st)));
  score[y * shifts + x] = s;
  atomic_max(best, (int)(s * 1024.0f) << 16 | y << 8 | x);
}""", {"image": inp(image), "template": inp(template), "score": out(score), "best": out(np.array([best], np.int32), init=np.array([-2**31]))}, [
        launch("correlate", [24, 24], [24, 4], "image", "template", "score", "best", I(size), I(t), I(shifts))]


@case("Rodinia dwt2d", "reversible 5/3 wavelet by integer lifting: rows in local memory, then columns")
def dwt53(r):
    w, h = 50, 28
    a0 = r.integers(-128, 128, (h, w)).astype(np.int32)

    def forward(x):
        x = x.astype(np.int64)
        n = len(x)
        even, odd = x[0::2].copy(), x[1::2].copy()
        following = np.concatenate([even[1:], even[-1:]])
        odd -= (even + following) >> 1
        before = np.concatenate([odd[:1], odd[:-1]])
        even += (before + odd + 2) >> 2
        return np.concatenate([even, odd])

    rows = forward(a0.T).T
    a = forward(rows).astype(np.int32)
    return "numpy integers", """
// Lines have even length; the low half goes first. Beyond a border the nearest sample of the same kind stands in.
__kernel void lift(__global const int *in, __global int *out, __local int *s, int n, int along, int across) {
  int t = get_local_id(0), half_size = n / 2, line = get_group_id(0) * across;
  s[2 * t] = in[line + 2 * t * along];
  s[2 * t + 1] = in[line + (2 * t + 1) * along];
  barrier(CLK_LOCAL_MEM_FENCE);
  int odd = s[2 * t + 1] - ((s[2 * t] + s[t + 1 < half_size ? 2 * t + 2 : 2 * t]) >> 1);
  s[2 * t + 1] = odd;
  barrier(CLK_LOCAL_MEM_FENCE);
  int even = s[2 * t] + ((s[t > 0 ? 2 * t - 1 : 1] + odd + 2) >> 2);
  out[line + t * along] = even;
  out[line + (half_size + t) * along] = odd;
}""", {"in": inp(a0), "rows": out(rows.astype(np.int32)), "out": out(a)}, [
        launch("lift", [h * w // 2], [w // 2], "in", "rows", L(4 * w), I(w), I(1), I(w)), launch("lift", [w * h // 2], [h // 2], "rows", "out", L(4 * h), I(h), I(w), I(1))]


@case("Parboil stencil, Rodinia hotspot3D", "7-point stencil: planes rotate through registers, a plane in local memory")
def stencil3d(r):
    nx, ny, nz = 22, 14, 11
    a0 = f32(r, nz, ny, nx)
    a, b = E(a0), zeros(nz, ny, nx)
    c = a[1:-1, 1:-1, 1:-1]
    b[1:-1, 1:-1, 1:-1] = (a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1]) * 0.125 - c * 0.7
    return "numpy float64 with error bounds", """
__kernel void stencil(__global const float *a, __global float *b, int nx, int ny, int nz) {
  __local float s[4][12];
  int lx = get_local_id(0), ly = get_local_id(1);
  int x = get_group_id(0) * 10 + lx, y = get_group_id(1) * 2 + ly, plane = nx * ny;
  int cx = min(x, nx - 1), cy = min(y, ny - 1), at = cy * nx + cx;
  bool inner = lx > 0 && lx < 11 && ly > 0 && ly < 3 && x < nx - 1 && y < ny - 1;
  float below = a[at], here = a[at + plane];
  for (int z = 1; z < nz - 1; z++) {
    float above = a[at + (z + 1) * plane];
    s[ly][lx] = here;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inner)
      b[at + z * plane] = (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] + below + above) * 0.125f - here * 0.7f;
    barrier(CLK_LOCAL_MEM_FENCE);
    below = here;
    here = above;
  }
}""", {"a": inp(a0), "b": out(b)}, [launch("stencil", [24, 24], [12, 4], "a", "b", I(nx), I(ny), I(nz))]


#
# Parboil, SHOC and samples: particles, sorting, hashing, random numbers, images, graphs
#


@case("Parboil cutcp", "a potential lattice from atoms within a cutoff: divergent tests, reciprocal square roots")
def cutcp(r):
    w, h, atoms, cut2 = 27, 21, 60, 16.0
    p = f32(r, atoms, 4, low=0, high=12)
    p[:, 3] = f32(r, atoms)
    x, y = E(np.arange(w)) * 0.5, E(np.arange(h)) * 0.5
    total = zeros(h, w)
    for a in range(atoms):
        dx, dy, dz = x - E(p[a, 0]), y - E(p[a, 1]), E(np.float64(6.0)) - E(p[a, 2])
        r2 = (dx * dx)[None, :] + (dy * dy)[:, None] + dz * dz
        near = decided(r2, cut2)
        s = 1.0 - r2 * 0.0625
        total = where(near, total + E(p[a, 3]) * rsqrt(r2) * s * s, total)
    return "numpy float64 with error bounds", """
__kernel void potential(__constant float4 *atoms, __global float *lattice, int count, int w, int h, float spacing, float z) {
  int i = get_global_id(0), j = get_global_id(1);
  if (i >= w || j >= h)
    return;
  float x = i * spacing, y = j * spacing, sum = 0.0f;
  for (int a = 0; a < count; a++) {
    float4 p = atoms[a];
    float dx = x - p.x, dy = y - p.y, dz = z - p.z;
    float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < 16.0f) {
      float s = 1.0f - r2 * 0.0625f;
      sum += p.w * rsqrt(r2) * s * s;
    }
  }
  lattice[j * w + i] = sum;
}""", {"atoms": inp(p), "lattice": out(total)}, [launch("potential", [30, 21], [15, 3], "atoms", "lattice", I(atoms), I(w), I(h), F(0.5), F(6.0))]


@case("Parboil mri-q, mri-fhd", "sums of sines and cosines over sample points in constant memory, several launches that accumulate")
def mri_q(r):
    n, k = 70, 24
    pos, traj = f32(r, 3, n), f32(r, k, 4)
    P, q = E(pos), zeros(2, n)
    two_pi = np.float32(6.2831853)
    for i in range(k):
        t = E(traj[i])
        phase = (t[0] * P[0] + t[1] * P[1] + t[2] * P[2]) * two_pi
        q[0] = q[0] + t[3] * cos(phase)
        q[1] = q[1] + t[3] * sin(phase)
    q = stack([q[0], q[1]])
    return "numpy float64 with error bounds", """
__kernel void q(__global const float *pos, __constant float4 *k, __global float *re, __global float *im, int n, int first, int count) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float x = pos[i], y = pos[n + i], z = pos[2 * n + i];
  float a = re[i], b = im[i];
  for (int s = first; s < first + count; s++) {
    float phase = 6.2831853f * (k[s].x * x + k[s].y * y + k[s].z * z);
    a += k[s].w * cos(phase);
    b += k[s].w * sin(phase);
  }
  re[i] = a;
  im[i] = b;
}""", {"pos": inp(pos), "k": inp(traj), "re": out(q[0]), "im": out(q[1])}, [
        launch("q", [72], [24], "pos", "k", "re", "im", I(n), I(f), I(8)) for f in range(0, k, 8)]


@case("Parboil tpacf", "angles between all pairs into bins by binary search; a histogram a group in local memory")
def tpacf(r):
    n, bins = 90, 11
    v = r.standard_normal((n, 3))
    v = (v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32)
    bound = np.cos(np.linspace(0.1, 3.0, bins - 1)).astype(np.float32)  # falling
    V = E(v)
    d = V[:, None, 0] * V[None, :, 0] + V[:, None, 1] * V[None, :, 1] + V[:, None, 2] * V[None, :, 2]
    i, j = np.triu_indices(n, 1)
    d = d[i, j]
    index = sum(decided(d, b).astype(int) for b in bound)
    return "numpy float64; no pair is within the rounding errors of a bound", """
#define BINS 11
__kernel void pairs(__global const float *v, __constant float *bound, volatile __global uint *histogram, int n) {
  volatile __local uint h[BINS];
  int t = get_local_id(0), i = get_global_id(0);
  for (int k = t; k < BINS; k += get_local_size(0))
    h[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    for (int j = i + 1; j < n; j++) {
      float d = x * v[3 * j] + y * v[3 * j + 1] + z * v[3 * j + 2];
      int low = 0, high = BINS - 1; // the number of bounds above d
      while (low < high) {
        int middle = (low + high) >> 1;
        if (d < bound[middle])
          low = middle + 1;
        else
          high = middle;
      }
      atomic_inc(&h[low]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = t; k < BINS; k += get_local_size(0))
    atomic_add(&histogram[k], h[k]);
}""", {"v": inp(v), "bound": inp(bound), "histogram": out(np.bincount(index, minlength=bins).astype(np.uint32))}, [
        launch("pairs", [99], [33], "v", "bound", "histogram", I(n))]


@case("Parboil sad", "sums of absolute differences of 4x4 blocks over a search window, uchar4 loads; the best motion vector")
def sad(r):
    w, h, reach = 32, 24, 3
    now = r.integers(0, 256, (h, w)).astype(np.uint8)
    before = np.roll(now, (1, -2), (0, 1))
    before = np.clip(before.astype(int) + r.integers(-3, 4, (h, w)), 0, 255).astype(np.uint8)
    p = np.pad(before, reach, mode="edge").astype(int)
    side = 2 * reach + 1
    sads = np.zeros((h // 4, w // 4, side * side), np.uint16)
    for by in range(h // 4):
        for bx in range(w // 4):
            block = now[4 * by : 4 * by + 4, 4 * bx : 4 * bx + 4].astype(int)
            for s in range(side * side):
                y, x = 4 * by + s // side, 4 * bx + s % side
                sads[by, bx, s] = np.abs(block - p[y : y + 4, x : x + 4]).sum()
    best = sads.argmin(2).astype(np.uint8)
    return "numpy integers", """
#define REACH 3
#define SIDE (2 * REACH + 1)
// A group does one block, a work-item one vector.
__kernel void sad(__global const uchar4 *now, __global const uchar *before, __global ushort *sads, __global uchar *best, int w, int h) {
  __local ushort found[SIDE * SIDE];
  int s = get_local_id(0), bx = get_group_id(0), by = get_group_id(1), block = by * (w / 4) + bx;
  int dx = s % SIDE - REACH, dy = s / SIDE - REACH;
  ushort sum = 0;
  for (int i = 0; i < 4; i++) {
    uchar4 a = now[(4 * by + i) * (w / 4) + bx];
    int row = clamp(4 * by + i + dy, 0, h - 1) * w;
    uchar4 b = (uchar4)(before[row + clamp(4 * bx + dx, 0, w - 1)], before[row + clamp(4 * bx + 1 + dx, 0, w - 1)],
                        before[row + clamp(4 * bx + 2 + dx, 0, w - 1)], before[row + clamp(4 * bx + 3 + dx, 0, w - 1)]);
    ushort4 d = convert_ushort4(abs_diff(a, b));
    sum += d.x + d.y + d.z + d.w;
  }
  sads[block * SIDE * SIDE + s] = sum;
  found[s] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (s == 0) {
    int at = 0;
    for (int i = 1; i < SIDE * SIDE; i++)
      at = found[i] < found[at] ? i : at;
    best[block] = at;
  }
}""", {"now": inp(now), "before": inp(before), "sads": out(sads), "best": out(best)}, [launch("sad", [49 * (w // 4), h // 4], [49, 1], "now", "before", "sads", "best", I(w), I(h))]


@case("Parboil lbm", "D2Q9 lattice Boltzmann: nine planes, collide and push, bounce-back cells, wrapped borders")
def lbm(r):
    w, h, omega = 23, 17, np.float32(1.1)
    cx, cy = [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]
    wt = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4).astype(np.float32)
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    solid = (r.random((h, w)) < 0.1).astype(np.uint8)
    f0 = (wt[:, None, None] * r.uniform(0.9, 1.1, (9, h, w))).astype(np.float32)
    f = E(f0)
    for _ in range(2):
        rho, ux, uy = f[0], zeros(h, w), zeros(h, w)
        for k in range(1, 9):
            rho = rho + f[k]
            ux, uy = ux + f[k] * float(cx[k]), uy + f[k] * float(cy[k])
        ux, uy = ux / rho, uy / rho
        base = 1.0 - (ux * ux + uy * uy) * 1.5
        new = zeros(9, h, w)
        for k in range(9):
            cu = ux * float(3 * cx[k]) + uy * float(3 * cy[k])
            eq = E(wt[k]) * rho * (base + cu + cu * cu * 0.5)
            o = f[k] + (eq - f[k]) * omega
            o = where(solid != 0, f[opposite[k]], o)
            new[k] = E(np.roll(o.v, (cy[k], cx[k]), (0, 1)), np.roll(o.e, (cy[k], cx[k]), (0, 1)))
        f = new
    l = lambda a, b: launch("collide_and_push", [24, 18], [8, 6], a, b, "solid", I(w), I(h), F(float(omega)))
    return "numpy float64 with error bounds", """
__constant int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant float weight[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
__kernel void collide_and_push(__global const float *from, __global float *to, __global const uchar *solid, int w, int h, float omega) {
  int x = get_global_id(0), y = get_global_id(1), at = y * w + x, plane = w * h;
  if (x >= w || y >= h)
    return;
  float rho = from[at], ux = 0.0f, uy = 0.0f;
  for (int k = 1; k < 9; k++) {
    float f = from[k * plane + at];
    rho += f;
    ux += cx[k] * f;
    uy += cy[k] * f;
  }
  ux /= rho;
  uy /= rho;
  float base = 1.0f - 1.5f * (ux * ux + uy * uy);
  bool bounce = solid[at];
  for (int k = 0; k < 9; k++) {
    float value;
    if (bounce) {
      value = from[opposite[k] * plane + at];
    } else {
      float cu = (float)(3 * cx[k]) * ux + (float)(3 * cy[k]) * uy, f = from[k * plane + at];
      value = f + omega * (weight[k] * rho * (base + cu + cu * cu * 0.5f) - f);
    }
    int tx = x + cx[k], ty = y + cy[k];
    tx = tx < 0 ? w - 1 : tx == w ? 0 : tx;
    ty = ty < 0 ? h - 1 : ty == h ? 0 : ty;
    to[k * plane + ty * w + tx] = value;
  }
}""", {"f": out(f, init=f0), "solid": inp(solid), "other": tmp("float32", 9, h, w)}, [l("f", "other"), l("other", "f")]


@case("SHOC sort, vendor samples", "four passes of a radix sort with payload: digit counts, a scan of the table, a stable scatter")
def radix_sort(r):
    n, threads = 499, 48
    keys = r.integers(0, 1 << 16, n).astype(np.uint32)
    keys[::7] = keys[3]
    order = np.argsort(keys, kind="stable")
    launches = []
    for p in range(4):
        a, b = ("keys", "other") if p % 2 == 0 else ("other", "keys")
        launches += [launch("count", [threads], [24], a, "table", I(n), I(4 * p)), launch("scan", [64], [64], "table", I(16 * threads)),
                     launch("scatter", [threads], [16], a, b, "table", I(n), I(4 * p))]
    pairs = np.stack([keys, np.arange(n, dtype=np.uint32)], 1)
    return "numpy stable sort", """
// A work-item owns a run of consecutive keys; the table is by digit, then work-item.
__kernel void count(__global const uint2 *keys, __global uint *table, int n, int shift) {
  int t = get_global_id(0), threads = get_global_size(0), each = (n + threads - 1) / threads;
  ushort c[16];
  for (int d = 0; d < 16; d++)
    c[d] = 0;
  for (int i = t * each; i < min(n, (t + 1) * each); i++)
    c[(keys[i].x >> shift) & 15]++;
  for (int d = 0; d < 16; d++)
    table[d * threads + t] = c[d];
}
__kernel void scan(__global uint *table, int n) {
  __local uint s[64];
  int t = get_local_id(0), each = n / 64;
  uint sum = 0;
  for (int i = 0; i < each; i++)
    sum += table[t * each + i];
  s[t] = sum;
  for (int step = 1; step < 64; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  uint before = s[t] - sum;
  for (int i = 0; i < each; i++) {
    uint v = table[t * each + i];
    table[t * each + i] = before;
    before += v;
  }
}
__kernel void scatter(__global const uint2 *keys, __global uint2 *sorted, __global uint *table, int n, int shift) {
  int t = get_global_id(0), threads = get_global_size(0), each = (n + threads - 1) / threads;
  for (int i = t * each; i < min(n, (t + 1) * each); i++) {
    uint2 v = keys[i];
    sorted[table[((v.x >> shift) & 15) * threads + t]++] = v;
  }
}""", {"keys": out(pairs[order], init=pairs), "other": tmp("uint32", n, 2), "table": tmp("uint32", 16 * threads)}, launches


@case("vendor samples", "merging two sorted arrays: every work-item finds its diagonal and merges a run")
def merge_path(r):
    a, b = np.sort(r.integers(-300, 300, 151)).astype(np.int16), np.sort(r.integers(-200, 400, 110)).astype(np.int16)
    n = len(a) + len(b)
    # Which array each result comes from: on equal keys a goes first.
    merged = np.concatenate([a, b])
    order = np.argsort(merged, kind="stable")
    return "numpy stable sort", """
#define RUN 7
__kernel void merge(__global const short *a, __global const short *b, __global short *out, __global uchar *from_b, int na, int nb) {
  int at = get_global_id(0) * RUN, end = min(at + RUN, na + nb);
  if (at >= na + nb)
    return;
  int low = max(0, at - nb), high = min(at, na);
  while (low < high) {
    int i = (low + high) / 2;
    if (a[i] <= b[at - 1 - i])
      low = i + 1;
    else
      high = i;
  }
  int i = low, j = at - low;
  for (; at < end; at++) {
    bool take_a = j >= nb || (i < na && a[i] <= b[j]);
    out[at] = take_a ? a[i++] : b[j++];
    from_b[at] = !take_a;
  }
}""", {"a": inp(a), "b": inp(b), "out": out(merged[order]), "from_b": out((order >= len(a)).astype(np.uint8))}, [
        launch("merge", [40], [20], "a", "b", "out", "from_b", I(len(a)), I(len(b)))]


@case("vendor samples", "a prefix sum in one launch: groups take tickets and look back at their predecessors' published sums")
def scan_lookback(r):
    n, g = 1003, 64
    x = r.integers(-100, 100, n).astype(np.int32)
    groups = -(-n // g)
    return "numpy cumulative sum", """
// A group's state: 0 nothing, 1 its own sum, 2 the sum of all up to it. A group only waits for groups that hold earlier tickets, which run.
__kernel void scan(__global const int *in, __global int *out, volatile __global int *ticket, volatile __global int *state, volatile __global int *own,
                   volatile __global int *upto, int n) {
  __local int s[64];
  __local int group[1], before[1];
  int t = get_local_id(0);
  if (t == 0)
    *group = atomic_inc(ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  int g = *group, i = g * 64 + t;
  s[t] = i < n ? in[i] : 0;
  for (int step = 1; step < 64; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    int sum = 0;
    atomic_xchg(&own[g], s[63]);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&state[g], 1);
    for (int k = g - 1; k >= 0;) {
      int flag = atomic_add(&state[k], 0);
      if (flag == 0)
        continue;
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      sum += flag == 2 ? atomic_add(&upto[k], 0) : atomic_add(&own[k], 0);
      if (flag == 2)
        break;
      k--;
    }
    *before = sum;
    atomic_xchg(&upto[g], sum + s[63]);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&state[g], 2);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n)
    out[i] = *before + s[t];
}""", {"in": inp(x), "out": out(np.cumsum(x).astype(np.int32)), "ticket": out(np.array([groups], np.int32), init=np.zeros(1)),
       "state": out(np.full(groups, 2, np.int32), init=np.zeros(groups)), "own": tmp("int32", groups), "upto": tmp("int32", groups)}, [
        launch("scan", [groups * g], [g], "in", "out", "ticket", "state", "own", "upto", I(n))]


@case("SHOC md5hash", "MD5 of one block: 64 rounds, constants and shifts in constant memory, a switch by round")
def md5(r):
    n = 70
    lengths = r.integers(0, 56, n)
    blocks, digests = np.zeros((n, 64), np.uint8), np.zeros((n, 16), np.uint8)
    for i in range(n):
        m = r.integers(0, 256, lengths[i]).astype(np.uint8).tobytes()
        blocks[i] = np.frombuffer(m + b"\x80" + b"\0" * (55 - len(m)) + struct.pack("<Q", 8 * len(m)), np.uint8)
        digests[i] = np.frombuffer(hashlib.md5(m).digest(), np.uint8)
    table = ", ".join(f"0x{int(abs(np.sin(i + 1)) * 2**32):08x}" for i in range(64))
    return "Python's hashlib", """
__constant uint table[64] = {TABLE};
__constant uchar shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
__kernel void md5(__global const uint *blocks, __global uint4 *digests) {
  int g = get_global_id(0);
  const uint4 start = (uint4)(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  uint a = start.x, b = start.y, c = start.z, d = start.w;
  for (int i = 0; i < 64; i++) {
    uint f;
    int k;
    switch (i >> 4) {
    case 0: f = (b & c) | (~b & d); k = i; break;
    case 1: f = bitselect(c, b, d); k = (5 * i + 1) & 15; break;
    case 2: f = b ^ c ^ d; k = (3 * i + 5) & 15; break;
    default: f = c ^ (b | ~d); k = (7 * i) & 15;
    }
    uint sum = a + f + table[i] + blocks[g * 16 + k];
    a = d;
    d = c;
    c = b;
    b += rotate(sum, (uint)shifts[(i >> 4) * 4 + (i & 3)]);
  }
  digests[g] = start + (uint4)(a, b, c, d);
}""".replace("TABLE", table), {"blocks": inp(blocks), "digests": out(digests)}, [launch("md5", [n], [35], "blocks", "digests")]


@case("vendor samples", "SHA-256 of one block: a rolling schedule in a private array, byte swaps by shuffles of uchar4")
def sha256(r):
    n = 33
    lengths = r.integers(0, 56, n)
    blocks, digests = np.zeros((n, 64), np.uint8), np.zeros((n, 32), np.uint8)
    for i in range(n):
        m = r.integers(0, 256, lengths[i]).astype(np.uint8).tobytes()
        blocks[i] = np.frombuffer(m + b"\x80" + b"\0" * (55 - len(m)) + struct.pack(">Q", 8 * len(m)), np.uint8)
        digests[i] = np.frombuffer(hashlib.sha256(m).digest(), np.uint8)
    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
    root = lambda p, e: next(v for v in range(int(round(p ** (1 / e) * 2**32)) - 9, 1 << 40) if (v + 1) ** e > p << (32 * e)) & 0xFFFFFFFF
    table = ", ".join(f"0x{root(p, 3):08x}" for p in primes[:64])
    start = ", ".join(f"0x{root(p, 2):08x}" for p in primes[:8])
    return "Python's hashlib", """
__constant uint table[64] = {TABLE};
__constant uint start[8] = {START};
uint swap(uint x) { return as_uint(as_uchar4(x).wzyx); }
uint right(uint x, uint by) { return rotate(x, 32 - by); }
__kernel void sha256(__global const uint *blocks, __global uint *digests) {
  int g = get_global_id(0);
  uint w[16], h[8];
#pragma unroll 1
  for (int i = 0; i < 16; i++)
    w[i] = swap(blocks[g * 16 + i]);
  for (int i = 0; i < 8; i++)
    h[i] = start[i];
#pragma unroll 1
  for (int i = 0; i < 64; i++) {
    uint v = w[i & 15];
    if (i >= 16) {
      uint a = w[(i + 1) & 15], b = w[(i + 14) & 15];
      v += (right(a, 7) ^ right(a, 18) ^ (a >> 3)) + w[(i + 9) & 15] + (right(b, 17) ^ right(b, 19) ^ (b >> 10));
      w[i & 15] = v;
    }
    uint t = h[7] + (right(h[4], 6) ^ right(h[4], 11) ^ right(h[4], 25)) + bitselect(h[6], h[5], h[4]) + table[i] + v;
    uint u = (right(h[0], 2) ^ right(h[0], 13) ^ right(h[0], 22)) + bitselect(h[0], h[1], h[0] ^ h[2]);
    for (int k = 7; k > 0; k--)
      h[k] = h[k - 1];
    h[4] += t;
    h[0] = t + u;
  }
  for (int i = 0; i < 8; i++)
    digests[g * 8 + i] = swap(h[i] + start[i]);
}""".replace("TABLE", table).replace("START", start), {"blocks": inp(blocks), "digests": out(digests)}, [launch("sha256", [n], [11], "blocks", "digests")]


@case("vendor samples", "CRC-32 of strings of different length: the table is made in local memory first")
def crc32(r):
    n = 75
    lengths = r.integers(0, 60, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    text = r.integers(0, 256, starts[-1]).astype(np.uint8)
    crcs = np.array([zlib.crc32(text[starts[i] : starts[i + 1]].tobytes()) for i in range(n)], np.uint32)
    return "Python's zlib", """
__kernel void crc(__global const uchar *text, __global const int *starts, __global uint *crcs, int n) {
  __local uint table[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) {
    uint c = i;
    for (int k = 0; k < 8; k++)
      c = (c >> 1) ^ (0xedb88320u & -(c & 1));
    table[i] = c;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int g = get_global_id(0);
  if (g >= n)
    return;
  uint c = ~0u;
  for (int i = starts[g]; i < starts[g + 1]; i++)
    c = table[(c ^ text[i]) & 255] ^ (c >> 8);
  crcs[g] = ~c;
}""", {"text": inp(text), "starts": inp(starts), "crcs": out(crcs)}, [launch("crc", [80], [40], "text", "starts", "crcs", I(n))]


def _aes():
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
                s = [times(s[i], 2) ^ times(s[i // 4 * 4 + (i + 1) % 4], 3) ^ s[i // 4 * 4 + (i + 2) % 4] ^ s[i // 4 * 4 + (i + 3) % 4] for i in range(16)]
            s = [a ^ b for a, b in zip(s, keys[16 * round_ :])]
        return s

    # FIPS 197, appendix C.1.
    assert bytes(encrypt(bytes.fromhex("00112233445566778899aabbccddeeff"), schedule(bytes(range(16))))).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    return box, schedule, encrypt


@case("vendor samples", "AES-128: S-box in constant memory, rows shifted through local memory, uchar arithmetic")
def aes(r):
    box, schedule, encrypt = _aes()
    n = 12
    keys = schedule(r.integers(0, 256, 16).tolist())
    blocks = r.integers(0, 256, (n, 16)).astype(np.uint8)
    done = np.array([encrypt(b.tolist(), keys) for b in blocks], np.uint8)
    return "AES in Python integers, checked with the vector of FIPS 197", """
__constant uchar box[256] = {BOX};
uchar twice(uchar x) { return (uchar)(x << 1) ^ (uchar)(x & 0x80 ? 0x1b : 0); }
// A work-item has one byte of a block.
__kernel void encrypt(__global const uchar *blocks, __constant uchar *keys, __global uchar *out) {
  __local uchar s[4][16];
  int i = get_local_id(0), b = get_local_id(1), g = get_global_id(1) * 16 + i, c = i & ~3;
  uchar v = blocks[g] ^ keys[i];
  for (int r = 1; r <= 10; r++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    s[b][i] = box[v];
    barrier(CLK_LOCAL_MEM_FENCE);
    v = s[b][(i + 4 * (i & 3)) & 15];
    if (r < 10) {
      barrier(CLK_LOCAL_MEM_FENCE);
      s[b][i] = v;
      barrier(CLK_LOCAL_MEM_FENCE);
      uchar next = s[b][c | ((i + 1) & 3)];
      v = twice(v) ^ twice(next) ^ next ^ s[b][c | ((i + 2) & 3)] ^ s[b][c | ((i + 3) & 3)];
    }
    v ^= keys[16 * r + i];
  }
  out[g] = v;
}""".replace("BOX", ", ".join(map(str, box))), {"blocks": inp(blocks), "keys": inp(np.array(keys, np.uint8)), "out": out(done)}, [
        launch("encrypt", [16, n], [16, 4], "blocks", "keys", "out")]


@case("vendor samples", "Aho-Corasick: an automaton over overlapping pieces of a text, matches counted and marked")
def string_match(r):
    words = ["abca", "bc", "cab", "aab", "ccc", "bbab"]
    text = "".join(r.choice(list("abc"), 700))
    goto_, result, depth = [{}], [set()], [0]
    for i, word in enumerate(words):
        s = 0
        for c in word:
            if c not in goto_[s]:
                goto_[s][c] = len(goto_)
                goto_.append({})
                result.append(set())
                depth.append(depth[s] + 1)
            s = goto_[s][c]
        result[s].add(i)
    fail, queue = [0] * len(goto_), list(goto_[0].values())
    table = np.zeros((len(goto_), 3), np.uint8)
    for c in "abc":
        table[0, ord(c) - 97] = goto_[0].get(c, 0)
    while queue:
        s = queue.pop(0)
        result[s] |= result[fail[s]]
        for c in "abc":
            if c in goto_[s]:
                fail[goto_[s][c]] = int(table[fail[s], ord(c) - 97])
                table[s, ord(c) - 97] = goto_[s][c]
                queue.append(goto_[s][c])
            else:
                table[s, ord(c) - 97] = table[fail[s], ord(c) - 97]
    masks = np.array([sum(1 << i for i in s) for s in result], np.uint8)
    counts = np.array([sum(text.startswith(w, i) for i in range(len(text))) for w in words], np.int32)
    marks = np.array([sum((1 << i) for i, w in enumerate(words) if text[: p + 1].endswith(w)) for p in range(len(text))], np.uint8)
    piece = 18
    return "Python strings", """
// A work-item marks the matches that end in its piece; it starts early enough to know the longest pattern.
__kernel void match(__global const uchar *text, __constant uchar *table, __constant uchar *masks, __global uchar *marks, volatile __global int *counts,
                    int n, int piece, int longest) {
  int begin = get_global_id(0) * piece, end = min(begin + piece, n), state = 0;
  for (int i = max(0, begin - longest + 1); i < end; i++) {
    state = table[state * 3 + text[i] - 'a'];
    if (i < begin)
      continue;
    uint found = masks[state];
    marks[i] = found;
    while (found) {
      int k = 31 - clz(found);
      atomic_inc(counts + k);
      found ^= 1u << k;
    }
  }
}""", {"text": inp(np.frombuffer(text.encode(), np.uint8)), "table": inp(table), "masks": inp(masks), "marks": out(marks), "counts": out(counts)}, [
        launch("match", [40], [20], "text", "table", "masks", "marks", "counts", I(len(text)), I(piece), I(4))]


@case("vendor samples", "Sobol numbers by Gray code: find-first-set, direction numbers, unsigned to float")
def sobol(r):
    dims, n = 3, 300
    # Primitive polynomials and starting numbers of dimensions 2 and 3.
    v = np.zeros((dims, 32), np.uint64)
    v[0] = [1 << (31 - i) for i in range(32)]
    for d, (s, a, m) in ((1, (1, 0, [1])), (2, (2, 1, [1, 3]))):
        m = list(m)
        for i in range(s, 32):
            x = m[i - s] ^ (m[i - s] << s)
            for k in range(1, s):
                x ^= ((a >> (s - 1 - k)) & 1) * (m[i - k] << k)
            m.append(x)
        v[d] = [m[i] << (31 - i) for i in range(32)]
    v = v.astype(np.uint32)
    x = np.zeros((dims, n), np.uint32)
    for i in range(n):
        gray = i ^ (i >> 1)
        for k in range(32):
            if gray >> k & 1:
                x[:, i] ^= v[:, k]
    return "Python integers; the conversion to float32 rounds once", """
__kernel void sobol(__global const uint *directions, __global uint *bits, __global float *points, int n) {
  __local uint v[32];
  int d = get_global_id(1), t = get_local_id(0);
  for (int k = t; k < 32; k += get_local_size(0))
    v[k] = directions[d * 32 + k];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i >= n)
    return;
  uint x = 0;
  for (uint gray = i ^ (i >> 1); gray; gray &= gray - 1)
    x ^= v[popcount(~gray & (gray - 1))];
  bits[d * n + i] = x;
  points[d * n + i] = x * 0x1p-32f;
}""", {"directions": inp(v), "bits": out(x), "points": out(x.astype(np.float32) * np.float32(2.0**-32))}, [
        launch("sobol", [320, dims], [20, 1], "directions", "bits", "points", I(n))]


@case("vendor samples", "MT19937 by one group: the 624-word state in local memory, four dependent pieces, tempering")
def mersenne_twister(r):
    mt = np.random.MT19937()
    mt._legacy_seeding(4357)
    state = mt.state["state"]["key"].astype(np.uint32)
    values = mt.random_raw(2 * 624).astype(np.uint32)
    last = mt.state["state"]["key"].astype(np.uint32)
    return "numpy's MT19937", """
uint next(__local const uint *s, int i) {
  uint y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
  return s[(i + 397) % 624] ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0);
}
__kernel void twister(__global uint *state, __global uint *values, int rounds) {
  __local uint s[624];
  int t = get_local_id(0), n = get_local_size(0);
  for (int i = t; i < 624; i += n)
    s[i] = state[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < rounds; r++) {
    // A word depends on the following word and the one 397 on: 227 at a time, the last one alone.
    const int bounds[5] = {0, 227, 454, 623, 624};
    for (int p = 0; p < 4; p++) {
      int i = bounds[p] + t;
      uint v = i < bounds[p + 1] ? next(s, i) : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (i < bounds[p + 1])
        s[i] = v;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = t; i < 624; i += n) {
      uint y = s[i];
      y ^= y >> 11;
      y ^= (y << 7) & 0x9d2c5680u;
      y ^= (y << 15) & 0xefc60000u;
      values[r * 624 + i] = y ^ (y >> 18);
    }
  }
  for (int i = t; i < 624; i += n)
    state[i] = s[i];
}""", {"state": out(last, init=state), "values": out(values)}, [launch("twister", [227], [227], "state", "values", I(2))]


@case("vendor samples", "Box-Muller and a Monte Carlo price: xorshift generators, sinpi and cospi, a float tree per group")
def monte_carlo(r):
    n, g, draws = 128, 32, 4
    seeds = r.integers(1, 1 << 32, n, dtype=np.uint64).astype(np.uint32)
    x = seeds.copy()

    def step():
        nonlocal x
        x = x ^ (x << np.uint32(13))
        x = x ^ (x >> np.uint32(17))
        x = x ^ (x << np.uint32(5))
        return x

    total = zeros(n)
    normals = []
    for _ in range(draws):
        u = E((step() >> np.uint32(8)) + 1.0) * 2.0**-24
        v = E((step() >> np.uint32(8)).astype(np.float64)) * 2.0**-23
        radius = sqrt(log(u) * -2.0)
        for f in (np.cos, np.sin):
            z = radius * E(f(np.pi * v.v), 8 * U32 * np.abs(f(np.pi * v.v)))
            normals.append(z)
            price = exp(z * 0.25 - 0.03125) * 100.0
            total = total + (price - 95.0).exact(lambda t: np.maximum(t, 0))
    mean = tree(total.reshape(n // g, g).T) / float(g * 2 * draws)
    return "numpy float64 with error bounds", """
uint step(uint x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ (x << 5);
}
__kernel void price(__global uint *seeds, __global float *normals, __global float *mean, __local float *s, int draws) {
  int i = get_global_id(0), t = get_local_id(0), n = get_global_size(0);
  uint x = seeds[i];
  float sum = 0.0f;
  for (int k = 0; k < draws; k++) {
    x = step(x);
    float u = (float)((x >> 8) + 1) * 0x1p-24f;
    x = step(x);
    float v = (float)(x >> 8) * 0x1p-23f;
    float radius = sqrt(-2.0f * log(u));
    float2 z = radius * (float2)(cospi(v), sinpi(v));
    normals[2 * k * n + i] = z.x;
    normals[(2 * k + 1) * n + i] = z.y;
    sum += fmax(100.0f * exp(0.25f * z.x - 0.03125f) - 95.0f, 0.0f);
    sum += fmax(100.0f * exp(0.25f * z.y - 0.03125f) - 95.0f, 0.0f);
  }
  seeds[i] = x;
  s[t] = sum;
  for (int k = get_local_size(0) / 2; k > 0; k /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < k)
      s[t] += s[t + k];
  }
  if (t == 0)
    mean[get_group_id(0)] = s[0] / (get_local_size(0) * 2 * draws);
}""", {"seeds": out(x, init=seeds), "normals": out(stack(normals)), "mean": out(mean)}, [launch("price", [n], [g], "seeds", "normals", "mean", L(4 * g), I(draws))]


@case("vendor samples", "American options on a binomial lattice, one a group, ping-pong in local memory")
def binomial(r):
    options, steps = 5, 36
    s, k, up_ = f32(r, options, low=20, high=40), f32(r, options, low=20, high=40), f32(r, options, low=0.02, high=0.06)
    node = np.arange(steps + 1)
    S, K, V = (E(x[:, None]) for x in (s, k, up_))
    pu = np.float32(0.51)
    df = np.float32(0.998)
    value = lambda level: S * exp(V * (2.0 * node[: level + 1] - level))
    v = (K - value(steps)).exact(lambda t: np.maximum(t, 0))
    down = E(np.float64(np.float32(1) - pu))
    for level in range(steps - 1, -1, -1):
        hold = (v[:, 1:] * pu + v[:, :-1] * down) * df
        v = maximum(hold, K - value(level))
    return "numpy float64 with error bounds", """
__kernel void american_put(__global const float *s, __global const float *k, __global const float *up, __global float *price, __local float *v, int steps,
                           float p, float discount) {
  int g = get_group_id(0), t = get_local_id(0);
  float strike = k[g], spot = s[g], rise = up[g];
  v[t] = fmax(strike - spot * exp(rise * (2 * t - steps)), 0.0f);
  for (int level = steps - 1; level >= 0; level--) {
    barrier(CLK_LOCAL_MEM_FENCE);
    float hold = 0.0f;
    if (t <= level)
      hold = fmax((v[t + 1] * p + v[t] * (1.0f - p)) * discount, strike - spot * exp(rise * (2 * t - level)));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t <= level)
      v[t] = hold;
  }
  if (t == 0)
    price[g] = v[0];
}""", {"s": inp(s), "k": inp(k), "up": inp(up_), "price": out(v[:, 0])}, [
        launch("american_put", [(steps + 1) * options], [steps + 1], "s", "k", "up", "price", L(4 * steps + 4), I(steps), F(float(pu)), F(float(df)))]


@case("vendor samples", "DCT of 8x8 blocks: rows then columns through local memory, quantised to short")
def dct8x8(r):
    w, h = 40, 24
    image = r.integers(-128, 128, (h, w)).astype(np.int8)
    k, i = np.mgrid[0:8, 0:8]
    basis = (np.cos((2 * i + 1) * k * np.pi / 16) * np.where(k == 0, np.sqrt(1 / 8), 0.5)).astype(np.float32)
    b = image.reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3)
    rows, both = zeros(*b.shape), zeros(*b.shape)
    for j in range(8):
        rows = rows + E(b[..., j : j + 1].astype(float)) * E(basis[:, j])
    for j in range(8):
        both = both + E(basis[:, j])[:, None] * rows[..., j : j + 1, :]
    coefficients = both
    scaled = both / 31.7
    assert (np.abs(np.abs(scaled.v % 1 - 0.5)) > scaled.e).all()
    flat = lambda a: a.transpose(0, 2, 1, 3).reshape(h, w)
    return "numpy float64 with error bounds; no coefficient rounds within them", """
__kernel void dct(__global const char *image, __constant float *basis, __global float *out, __global short *quantised, int w) {
  __local float s[8][8], t[8][8];
  int x = get_local_id(0), y = get_local_id(1), at = get_global_id(1) * w + get_global_id(0);
  s[y][x] = image[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int j = 0; j < 8; j++)
    sum += s[y][j] * basis[8 * x + j];
  t[y][x] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int j = 0; j < 8; j++)
    sum += basis[8 * y + j] * t[j][x];
  out[at] = sum;
  quantised[at] = convert_short_rte(sum / 31.7f);
}""", {"image": inp(image), "basis": inp(basis), "out": out(E(flat(coefficients.v), flat(coefficients.e))), "quantised": out(np.rint(flat(scaled.v)).astype(np.int16))}, [
        launch("dct", [w, h], [8, 8], "image", "basis", "out", "quantised", I(w))]


@case("vendor samples", "median of 3x3 by a network of minima and maxima on uchar4, rows loaded from a local tile")
def median3x3(r):
    w, h = 37, 26
    image = r.integers(0, 256, (h, w, 4)).astype(np.uint8)
    p = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    m = np.median(np.stack([p[i : i + h, j : j + w] for i in range(3) for j in range(3)]), axis=0).astype(np.uint8)
    return "numpy median", """
#define SORT(a, b) { uchar4 t = min(a, b); b = max(a, b); a = t; }
__kernel void median(__global const uchar4 *in, __global uchar4 *out, int w, int h) {
  __local uchar4 s[6][12];
  int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
  int x0 = get_group_id(0) * 10 - 1, y0 = get_group_id(1) * 4 - 1;
  for (int i = ly * 10 + lx; i < 72; i += 40)
    s[i / 12][i % 12] = in[clamp(y0 + i / 12, 0, h - 1) * w + clamp(x0 + i % 12, 0, w - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= w || y >= h)
    return;
  uchar4 a = s[ly][lx], b = s[ly][lx + 1], c = s[ly][lx + 2], d = s[ly + 1][lx], e = s[ly + 1][lx + 1], f = s[ly + 1][lx + 2];
  uchar4 g = s[ly + 2][lx], i = s[ly + 2][lx + 1], j = s[ly + 2][lx + 2];
  SORT(b, c) SORT(e, f) SORT(i, j) SORT(a, b) SORT(d, e) SORT(g, i) SORT(b, c) SORT(e, f) SORT(i, j)
  d = max(a, d);
  f = min(f, j);
  SORT(e, i)
  g = max(d, g);
  e = max(b, e);
  c = min(c, f);
  e = min(e, i);
  SORT(e, c)
  e = max(g, e);
  out[y * w + x] = min(e, c);
}""", {"in": inp(image), "out": out(m)}, [launch("median", [40, 28], [10, 4], "in", "out", I(w), I(h))]


@case("vendor samples", "bilateral filter: weights from distance in place and in value, a normalising division")
def bilateral(r):
    w, h = 26, 19
    image = f32(r, h, w, low=0, high=1)
    image[:, w // 2 :] += np.float32(1)
    space = np.exp(-np.array([[i * i + j * j for j in (-2, -1, 0, 1, 2)] for i in (-2, -1, 0, 1, 2)]) / 4.5).astype(np.float32)
    p, c = np.pad(image, 2, mode="edge"), E(image)
    sum_, norm = zeros(h, w), zeros(h, w)
    for i in range(5):
        for j in range(5):
            o = E(p[i : i + h, j : j + w])
            d = o - c
            k = E(space[i, j]) * exp(d * d * -8.0)
            sum_, norm = sum_ + k * o, norm + k
    return "numpy float64 with error bounds", """
__kernel void bilateral(__global const float *in, __global float *out, __constant float *space, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  float here = in[y * w + x], sum = 0.0f, norm = 0.0f;
  for (int i = -2; i <= 2; i++)
    for (int j = -2; j <= 2; j++) {
      float v = in[clamp(y + i, 0, h - 1) * w + clamp(x + j, 0, w - 1)];
      float d = v - here;
      float k = space[(i + 2) * 5 + j + 2] * exp(d * d * -8.0f);
      sum += k * v;
      norm += k;
    }
  out[y * w + x] = sum / norm;
}""", {"in": inp(image), "out": out(sum_ / norm), "space": inp(space)}, [launch("bilateral", [28, 20], [14, 5], "in", "out", "space", I(w), I(h))]


@case("vendor samples", "Sobel gradients of a byte image, four pixels a work-item, saturated; their direction")
def sobel(r):
    w, h = 48, 21
    image = r.integers(0, 256, (h, w)).astype(np.uint8)
    image[:, :20] //= 8
    p = np.pad(image.astype(int), 1, mode="edge")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    mag = np.clip(np.abs(gx) + np.abs(gy), 0, 255).astype(np.uint8)
    direction = ((gx < 0) * 4 + (gy < 0) * 2 + (np.abs(gy) > np.abs(gx))).astype(np.int8)
    return "numpy integers", """
short8 row(__global const uchar *in, int y, int x, int w) {
  uchar4 m = vload4(0, in + y * w + x);
  return (short8)(in[y * w + max(x - 1, 0)], convert_short4(m), in[y * w + min(x + 4, w - 1)], 0, 0);
}
__kernel void sobel(__global const uchar *in, __global uchar *magnitude, __global char *direction, int w, int h) {
  int x = get_global_id(0) * 4, y = get_global_id(1);
  short8 a = row(in, max(y - 1, 0), x, w), b = row(in, y, x, w), c = row(in, min(y + 1, h - 1), x, w);
  short8 across = a + b * (short)2 + c, down = c - a;
  short4 gx = across.s2345 - across.s0123;
  short4 gy = down.s0123 + down.s1234 * (short)2 + down.s2345;
  ushort4 ax = abs(gx), ay = abs(gy);
  vstore4(convert_uchar4_sat(ax + ay), 0, magnitude + y * w + x);
  short4 d = ((gx < (short)0) & (short)4) | ((gy < (short)0) & (short)2) | ((short4)(ay > ax) & (short)1);
  vstore4(convert_char4(d), 0, direction + y * w + x);
}""", {"in": inp(image), "magnitude": out(mag), "direction": out(direction)}, [launch("sobel", [w // 4, h], [12, 7], "in", "magnitude", "direction", I(w), I(h))]


@case("vendor samples", "separable Gaussian: a row pass and a column pass over local tiles with halos")
def gaussian_blur(r):
    w, h, radius = 45, 31, 4
    image = f32(r, h, w)
    taps = np.exp(-np.arange(-radius, radius + 1) ** 2 / 6.0)
    taps = (taps / taps.sum()).astype(np.float32)

    def blur(x):
        p = E(np.pad(x.v, ((0, 0), (radius, radius))), np.pad(x.e, ((0, 0), (radius, radius))))
        s = zeros(*x.shape)
        for k in range(2 * radius + 1):
            s = s + p[:, k : k + x.shape[1]] * E(taps[k])
        return s

    rows = blur(E(image))
    y = blur(rows.T).T
    return "numpy float64 with error bounds", """
#define R 4
#define GROUP 16
// Along lines of length n: consecutive elements are `along` apart, lines `across`.
__kernel void blur(__global const float *in, __global float *out, __constant float *taps, int n, int along, int across) {
  __local float s[GROUP + 2 * R];
  int t = get_local_id(0), x = get_global_id(0), line = get_global_id(1) * across, first = get_group_id(0) * GROUP - R;
  for (int i = t; i < GROUP + 2 * R; i += GROUP) {
    int at = first + i;
    s[i] = at >= 0 && at < n ? in[line + at * along] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= n)
    return;
  float sum = 0.0f;
  for (int k = 0; k <= 2 * R; k++)
    sum += s[t + k] * taps[k];
  out[line + x * along] = sum;
}""", {"in": inp(image), "rows": out(rows), "out": out(y), "taps": inp(taps)}, [
        launch("blur", [ceil(w, 16), h], [16, 1], "in", "rows", "taps", I(w), I(1), I(w)), launch("blur", [ceil(h, 16), w], [16, 1], "rows", "out", "taps", I(h), I(w), I(1))]


@case("vendor samples", "histogram equalisation: private histograms merged, a scan in local memory, a look-up table")
def equalise(r):
    n = 2111
    image = np.clip(r.normal(100, 25, n), 0, 255).astype(np.uint8)
    h = np.bincount(image, minlength=256)
    cdf = np.cumsum(h)
    first = cdf[image.min()]
    table = np.clip(((cdf - first) * 255 + (n - first) // 2) // (n - first), 0, 255).astype(np.uint8)
    table[: image.min()] = 0
    return "numpy integers", """
__kernel void count(__global const uchar *image, volatile __global uint *histogram, int n) {
  volatile __local uint h[256];
  for (int i = get_local_id(0); i < 256; i += get_local_size(0))
    h[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&h[image[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < 256; i += get_local_size(0))
    if (h[i])
      atomic_add(&histogram[i], h[i]);
}
__kernel void make_table(__global const uint *histogram, __global uchar *table, int n) {
  __local uint s[2][256];
  __local uint lowest[1];
  int t = get_local_id(0), from = 0;
  uint mine = histogram[t];
  s[0][t] = mine;
  for (int step = 1; step < 256; step <<= 1, from ^= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    s[from ^ 1][t] = s[from][t] + (t >= step ? s[from][t - step] : 0);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint c = s[from][t];
  if (mine && c == mine)
    *lowest = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  table[t] = c < *lowest ? 0 : ((c - *lowest) * 255 + (n - *lowest) / 2) / (n - *lowest);
}
__kernel void apply(__global uchar *image, __global const uchar *table, int n) {
  int i = get_global_id(0);
  if (i < n)
    image[i] = table[image[i]];
}""", {"image": out(table[image], init=image), "histogram": out(h.astype(np.uint32)), "table": out(table)}, [
        launch("count", [160], [80], "image", "histogram", I(n)), launch("make_table", [256], [256], "histogram", "table", I(n)), launch("apply", [2112], [96], "image", "table", I(n))]


def _graph(r, n, most, symmetric=False):
    edges = {(int(a), int(b)) for a in range(n) for b in r.integers(0, n, r.integers(0, most)) if a != b}
    if symmetric:
        edges |= {(b, a) for a, b in edges}
    edges = sorted(edges)
    rows = np.concatenate([[0], np.cumsum(np.bincount([a for a, _ in edges], minlength=n))]).astype(np.int32)
    return edges, rows, np.array([b for _, b in edges], np.int32)


@case("graph suites", "single-source shortest paths: relaxation by atomic minimum until nothing changes")
def sssp(r):
    n = 190
    edges, rows, cols = _graph(r, n, 6)
    source = int(np.argmax(np.diff(rows)))
    w = r.integers(1, 30, len(edges)).astype(np.uint32)
    far = 0xFFFFFFFF
    dist = [far] * n
    dist[source] = 0
    rounds = 0
    while True:
        new = list(dist)
        for (a, b), c in zip(edges, w.tolist()):
            if dist[a] != far:
                new[b] = min(new[b], dist[a] + c)
        rounds += 1
        if new == dist:
            break
        dist = new
    assert dist.count(far) < n // 3 and rounds > 5
    start = np.full(n, far, np.uint32)
    start[source] = 0
    return "Bellman-Ford in Python", """
__kernel void relax(__global const int *rows, __global const int *columns, __global const uint *weight, volatile __global uint *dist, volatile __global uint *changed, int n, int round) {
  int v = get_global_id(0);
  if (v >= n || (round > 0 && changed[round - 1] == 0))
    return;
  uint d = dist[v];
  if (d == UINT_MAX)
    return;
  bool any = false;
  for (int k = rows[v]; k < rows[v + 1]; k++)
    any |= atomic_min(&dist[columns[k]], d + weight[k]) > d + weight[k];
  if (any)
    atomic_or(&changed[round], 1u);
}""", {"rows": inp(rows), "columns": inp(cols), "weight": inp(w), "dist": out(np.array(dist, np.uint32), init=start), "changed": tmp("uint32", rounds)}, [
        launch("relax", [192], [48], "rows", "columns", "weight", "dist", "changed", I(n), I(i)) for i in range(rounds)]


@case("graph suites", "PageRank by pulling over incoming edges: ranks ping-pong between launches")
def pagerank(r):
    n = 140
    edges, rows, cols = _graph(r, n, 8)
    degree = np.maximum(np.bincount(cols, minlength=n), 1).astype(np.int32)  # row v lists the vertices that link to v
    rank = E(np.full(n, np.float32(1 / n)).astype(np.float64))
    base, damping = np.float32(0.15 / n), np.float32(0.85)
    start = rank.v.astype(np.float32)
    for _ in range(6):
        share = rank / degree
        s = zeros(n)
        for v in range(n):
            t = zeros()
            for k in range(rows[v], rows[v + 1]):
                t = t + share[int(cols[k])]
            s[v] = t
        rank = base + s * damping
    l = lambda a, b: launch("pull", [140], [28], "rows", "columns", "degree", a, b, F(float(base)), F(float(damping)))
    return "numpy float64 with error bounds", """
__kernel void pull(__global const int *rows, __global const int *columns, __global const int *degree, __global const float *rank, __global float *next,
                   float base, float damping) {
  int v = get_global_id(0);
  float sum = 0.0f;
  for (int k = rows[v]; k < rows[v + 1]; k++) {
    int from = columns[k];
    sum += rank[from] / (float)degree[from];
  }
  next[v] = base + damping * sum;
}""", {"rows": inp(rows), "columns": inp(cols), "degree": inp(degree), "rank": out(rank, init=start), "next": tmp("float32", n)}, [
        l("rank", "next"), l("next", "rank")] * 3


@case("graph suites", "connected components: labels hook by atomic minimum and jump pointers in loops")
def components(r):
    n = 210
    edges, _, _ = _graph(r, n, 3)
    edges = [e for e in edges if r.random() < 0.7]
    label = list(range(n))

    def find(v):
        while label[v] != v:
            v = label[v]
        return v

    for a, b in edges:
        a, b = find(a), find(b)
        label[max(a, b)] = min(a, b)
    want = np.array([find(v) for v in range(n)], np.int32)
    e = np.array(edges, np.int32)
    launches = [launch("start", [n], [42], "label")]
    for _ in range(5):
        launches += [launch("hook", [ceil(len(e), 40)], [40], "edges", "label", I(len(e))), launch("jump", [n], [30], "label")]
    return "union and find in Python", """
__kernel void start(__global int *label) {
  label[get_global_id(0)] = get_global_id(0);
}
__kernel void hook(__global const int2 *edges, volatile __global int *label, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  int2 e = edges[i];
  int a = label[e.x], b = label[e.y];
  while (a != b) {
    int high = max(a, b), low = min(a, b);
    int old = atomic_min(&label[high], low);
    if (old == high || old == low)
      break;
    a = old;
    b = low;
  }
}
__kernel void jump(volatile __global int *label) {
  int v = get_global_id(0), l = label[v];
  while (l != label[l])
    l = label[l];
  label[v] = l;
}""", {"edges": inp(e), "label": out(want)}, launches


@case("graph suites", "triangles by merging sorted neighbour lists; 64-bit total")
def triangles(r):
    n = 64
    edges, rows, cols = _graph(r, n, 7, symmetric=True)
    adjacent = {(a, b) for a, b in edges}
    per = np.zeros(n, np.int32)
    for a, b in edges:
        if a < b:
            per[a] += sum((a, c) in adjacent and (b, c) in adjacent for c in range(b + 1, n))
    return "Python sets", """
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
// Each triangle is counted at its least vertex.
__kernel void count(__global const int *rows, __global const int *columns, __global int *per, volatile __global long *total, int n) {
  int a = get_global_id(0), found = 0;
  if (a >= n)
    return;
  for (int k = rows[a]; k < rows[a + 1]; k++) {
    int b = columns[k];
    if (b < a)
      continue;
    int i = k + 1, j = rows[b];
    while (i < rows[a + 1] && j < rows[b + 1]) {
      int x = columns[i], y = columns[j];
      if (x == y)
        found += x > b;
      i += x <= y;
      j += y <= x;
    }
  }
  per[a] = found;
  if (found)
    atom_add(total, (long)found << 30);
}""", {"rows": inp(rows), "columns": inp(cols), "per": out(per), "total": out(np.array([int(per.sum()) << 30], np.int64), init=np.zeros(1))}, [
        launch("count", [66], [33], "rows", "columns", "per", "total", I(n))]


#
# What the suites use of the language
#


@case("vendor samples", "structures by value with nested structures, arrays, vectors and a union; their padding")
def struct_args(r):
    n = 45
    x = r.integers(-1000, 1000, n).astype(np.int32)
    scale, table, tag, bias, quad, big = 3, [5, -7, 11], 200, [10, -20], [1.5, -2.0, 0.25, 8.0], (1 << 40) + 3
    t = np.array(table)
    whole = (x.astype(np.int64) * scale + t[np.arange(n) % 3] + tag + np.array(bias)[np.arange(n) & 1]) * 4 + big
    real = np.array([quad[i % 4] * 2 for i in range(n)], np.float32)
    bits = struct.unpack("<I", struct.pack("<f", 1.0))[0]
    return "Python integers", """
typedef struct { char scale; short table[3]; uchar tag; } Inner;
typedef struct { Inner inner; int2 bias; float4 quad; union { float f; uint u; } either; long big; } Outer;
long apply(Outer o, int x, int i) {
  o.inner.tag += 0; // a copy of the caller's
  return (long)x * o.inner.scale + o.inner.table[i % 3] + o.inner.tag + ((i & 1) ? o.bias.y : o.bias.x);
}
__kernel void use(__global const int *x, __global long *whole, __global float *real, __global uint *bits, Outer o, Inner unused) {
  int i = get_global_id(0);
  Outer copy = o;
  copy.quad *= 2.0f;
  float q[4];
  vstore4(copy.quad, 0, q);
  whole[i] = apply(o, x[i], i) * 4 + o.big + unused.tag;
  real[i] = q[i & 3];
  bits[i] = o.either.u + sizeof(Outer);
}""", {"x": inp(x), "whole": out(whole), "real": out(real), "bits": out(np.full(n, bits + 64, np.uint32))}, [
        launch("use", [n], [15], "x", "whole", "real", "bits",
               data("bx3hBx6x2i8x4ff4xq", scale, *table, tag, *bias, *quad, 1.0, big), data("bx3hBx", 0, 0, 0, 0, 0))]


@case("vendor samples", "vloads and vstores of every width, unaligned; halves in memory with rounding")
def vector_memory(r):
    n = 31
    b, s = r.integers(-128, 128, n * 16 + 1).astype(np.int8), r.integers(-3000, 3000, n * 3 + 1).astype(np.int16)
    h = (r.standard_normal(n * 4) * 10).astype(np.float16)
    sums = np.array([b[i * 16 + 1 : i * 16 + 17].astype(int).sum() for i in range(n)], np.int32)
    reversed_ = s.copy()
    for i in range(n):
        reversed_[i * 3 + 1 : i * 3 + 4] = s[i * 3 + 1 : i * 3 + 4][::-1]
    third = (h.astype(np.float32) * np.float32(0.75)).astype(np.float32)  # exact: 11 bits times 2
    return "numpy integers and float16", """
__kernel void move(__global const char *b, __global int *sums, __global const short *s, __global short *reversed, __global const half *h, __global half *back,
                   __global float *wide) {
  int i = get_global_id(0);
  char16 v = vload16(i, b + 1);
  int8 w = convert_int8(v.lo) + convert_int8(v.hi);
  int4 x = w.even + w.odd;
  int2 y = x.xz + x.yw;
  sums[i] = y.x + y.y;
  short3 t = vload3(i, s + 1);
  vstore3(t.zyx, i, reversed + 1);
  if (i == 0)
    reversed[0] = s[0];
  float4 f = vload_half4(i, h) * 0.75f;
  vstore4(f, i, wide);
  if (i & 1)
    vstore_half4_rte(f, i, back);
  else
    for (int k = 0; k < 4; k++)
      vstore_half_rte(vload_half(4 * i + k, h) * 0.75f, 4 * i + k, back);
}""", {"b": inp(b), "sums": out(sums), "s": inp(s), "reversed": out(reversed_), "h": inp(h), "back": out(third.astype(np.float16)), "wide": out(third)}, [
        launch("move", [n], [n], "b", "sums", "s", "reversed", "h", "back", "wide")]


@case("vendor samples", "asynchronous copies to and from local memory, strided too, in a double-buffered loop")
def async_copies(r):
    g, tiles, stride = 24, 5, 3
    x = r.integers(0, 1000, (2, tiles, g)).astype(np.int32)
    y = (x[..., ::-1] * 2 + x[..., :1]).astype(np.int32)
    picked = x.reshape(-1)[: 2 * g * stride].reshape(2, -1)[:, ::stride][:, :g].astype(np.int32)
    return "numpy integers", """
#define G 24
__kernel void copy(__global const int *in, __global int *out, __global int *picked, int tiles, int stride) {
  __local int tile[2][G], result[G];
  int t = get_local_id(0), group = get_group_id(0);
  __global const int *from = in + group * tiles * G;
  __global int *to = out + group * tiles * G;
  event_t loaded = async_work_group_copy(tile[0], from, G, 0);
  for (int k = 0; k < tiles; k++) {
    wait_group_events(1, &loaded);
    if (k + 1 < tiles)
      loaded = async_work_group_copy(tile[(k + 1) & 1], from + (k + 1) * G, G, 0);
    result[t] = tile[k & 1][G - 1 - t] * 2 + tile[k & 1][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t stored = async_work_group_copy(to + k * G, result, G, 0);
    wait_group_events(1, &stored);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  event_t e = async_work_group_strided_copy(result, in + group * G * stride, G, stride, 0);
  wait_group_events(1, &e);
  picked[group * G + t] = result[t];
}""", {"in": inp(x), "out": out(y), "picked": out(picked)}, [launch("copy", [2 * g], [g], "in", "out", "picked", I(tiles), I(stride))]


@case("vendor samples", "shuffle and shuffle2 with masks from memory, swizzles on both sides, vector literals")
def shuffles(r):
    n = 40
    a, b = r.integers(0, 256, (n, 8)).astype(np.uint8), r.integers(0, 256, (n, 8)).astype(np.uint8)
    m, f = r.integers(0, 256, (n, 16)).astype(np.uint8), f32(r, n, 4)
    fm = r.integers(0, 1 << 20, (n, 4)).astype(np.uint32)
    both = np.concatenate([a, b], 1)
    y = np.take_along_axis(both, m.astype(int) & 15, 1)
    z = np.take_along_axis(f, fm.astype(int) & 3, 1).copy()
    z[:, [3, 1]] = z[:, [0, 3]]
    w = np.take_along_axis(a, m[:, :8].astype(int) & 7, 1)
    return "numpy indexing", """
__kernel void mix_up(__global const uchar8 *a, __global const uchar8 *b, __global const uchar16 *mask, __global uchar16 *both, __global uchar8 *one,
                     __global const float4 *f, __global const uint4 *fmask, __global float4 *g) {
  int i = get_global_id(0);
  both[i] = shuffle2(a[i], b[i], mask[i]);
  one[i] = shuffle(a[i], mask[i].lo);
  float4 v = shuffle(f[i], fmask[i]);
  v.wy = v.xw;
  g[i] = (float4)(v.s0, v.s12, v.s3);
}""", {"a": inp(a), "b": inp(b), "mask": inp(m), "both": out(y), "one": out(w), "f": inp(f), "fmask": inp(fm), "g": out(z)}, [
        launch("mix_up", [n], [20], "a", "b", "mask", "both", "one", "f", "fmask", "g")]


@case("all suites", "integer built-ins on 8 to 64 bits: clz, popcount, hadd, saturation, rotate, upsample, mul24, mul_hi, mad_sat")
def int_builtins(r):
    n = 64
    x, y = (r.integers(-(1 << 31), 1 << 31, n).astype(np.int32) for _ in range(2))
    x[:4], y[:4] = [2**31 - 1, -(2**31), 0, -1], [1, -1, 2**31 - 1, -(2**31)]
    wrap = lambda v, b: (v + (1 << (b - 1))) % (1 << b) - (1 << (b - 1))
    sat = lambda v, b: max(-(1 << (b - 1)), min((1 << (b - 1)) - 1, v))
    o = []
    for a, b in zip(x.tolist(), y.tolist()):
        ua, ub = a % 2**32, b % 2**32
        sa, sb = wrap(a, 16), wrap(b, 16)
        ca, cb = wrap(a, 8), wrap(b, 8)
        row = [32 - ua.bit_length(), bin(ua).count("1"), (a + b) >> 1, (a + b + 1) >> 1, sat(a + b, 32), sat(a - b, 32),
               wrap((ua << (ub % 32) | ua >> (32 - ub % 32)), 32), wrap(abs(a), 32), wrap(abs(a - b), 32), wrap((a * b) >> 32, 32), wrap((ua * ub) >> 32, 32),
               wrap(wrap(a, 24) * wrap(b, 24) + 5, 32), sat(a * b + 7, 32), wrap(sat(sa + sb, 16) << 16 | (sat(sa - sb, 16) % 65536), 32),
               wrap((sa << 16) | sb % 65536, 32), wrap(sat(ca + cb, 8) * 1000 + sat(ca - cb, 8), 32),
               wrap(max(0, ua % 256 - ub % 256) * 256 + min(255, ua % 256 + ub % 256), 32), 8 - (ua % 256).bit_length() + 16 * (16 - (ua % 65536).bit_length()),
               min(max(a, -1000), 1000) + min(a, b) // 2 ** 8 - max(ua, ub) // 2**8, wrap((a << 32 | ub) >> 37, 32)]
        o.append([wrap(v, 32) for v in row])
    wide = []
    for a, b in zip(x.tolist(), y.tolist()):
        p, q = wrap(a * 0x100000001 + b, 64), wrap(b * 0x123456789 + a, 64)
        up_, uq = p % 2**64, q % 2**64
        k = uq % 64
        wide.append([(p + q) >> 1, sat(p + q, 64), sat(p - q, 64), wrap((up_ << k | up_ >> (64 - k)) % 2**64, 64), wrap((p * q) >> 64, 64),
                     64 - up_.bit_length() + 100 * bin(uq).count("1"), (abs(p) // abs(q)) * (1 if (p < 0) == (q < 0) else -1) if q else 0,
                     wrap(up_ % (uq | 1), 64)])
    return "Python integers", """
__kernel void narrow(__global const int *x, __global const int *y, __global int *out) {
  int i = get_global_id(0), a = x[i], b = y[i];
  uint ua = a, ub = b;
  short sa = a, sb = b;
  char ca = a, cb = b;
  uchar da = a, db = b;
  __global int *o = out + i * 20;
  o[0] = clz(a);
  o[1] = popcount(a);
  o[2] = hadd(a, b);
  o[3] = rhadd(a, b);
  o[4] = add_sat(a, b);
  o[5] = sub_sat(a, b);
  o[6] = rotate(a, b);
  o[7] = abs(a);
  o[8] = abs_diff(a, b);
  o[9] = mul_hi(a, b);
  o[10] = mul_hi(ua, ub);
  o[11] = mad24(a << 8 >> 8, b << 8 >> 8, 5);
  o[12] = mad_sat(a, b, 7);
  o[13] = upsample(add_sat(sa, sb), as_ushort(sub_sat(sa, sb)));
  o[14] = upsample(sa, as_ushort(sb));
  o[15] = add_sat(ca, cb) * 1000 + sub_sat(ca, cb);
  o[16] = sub_sat(da, db) * 256 + add_sat(da, db);
  o[17] = clz(da) + 16 * clz((ushort)ua);
  o[18] = clamp(a, -1000, 1000) + (min(a, b) >> 8) - (int)(max(ua, ub) >> 8);
  o[19] = (int)(upsample(a, ub) >> 37);
}
__kernel void wide(__global const int *x, __global const int *y, __global long *out) {
  int i = get_global_id(0);
  long p = x[i] * 0x100000001L + y[i], q = y[i] * 0x123456789L + x[i];
  __global long *o = out + i * 8;
  o[0] = hadd(p, q);
  o[1] = add_sat(p, q);
  o[2] = sub_sat(p, q);
  o[3] = rotate(p, q);
  o[4] = mul_hi(p, q);
  o[5] = clz(p) + 100 * popcount(q);
  o[6] = q != 0 ? p / q : 0;
  o[7] = (ulong)p % ((ulong)q | 1);
}""", {"x": inp(x), "y": inp(y), "narrow": out(np.array(o, np.int32)), "wide": out(np.array(wide, np.int64))}, [
        launch("narrow", [n], [32], "x", "y", "narrow"), launch("wide", [n], [16], "x", "y", "wide")]


@case("all suites", "floats taken apart: fract, modf, frexp, ldexp, remquo, ilogb, nextafter, fmod, rounding functions; results through pointers")
def float_parts(r):
    n = 50
    x = (r.standard_normal(n) * 2.0 ** r.integers(-8, 12, n)).astype(np.float32)
    y = (r.uniform(0.5, 3, n) * 2.0 ** r.integers(-1, 2, n)).astype(np.float32)
    x[:6] = [0.5, 1.5, 2.5, -0.5, -2.5, 4096.0]
    X, Y = x.astype(np.float64), y.astype(np.float64)
    fl = np.floor(X)
    fract = np.minimum((X - fl).astype(np.float32), np.float32(1 - 2.0**-24))
    whole = np.trunc(X)
    m, e = np.frexp(X)
    q = np.rint(X / Y)
    assert (np.abs(np.abs((X / Y) % 1 - 0.5)) > 1e-9).all()
    rem = X - q * Y  # exact in float64: both are float32 and the quotient is small
    low = (np.sign(q) * (np.abs(q) % 128)).astype(np.int32)
    half_away = np.sign(X) * np.floor(np.abs(X) + 0.5)
    rows = np.stack([fract, fl, X - whole, whole, m, rem, np.fmod(X, Y), np.ldexp(X, 3), np.nextafter(x, y), np.rint(X), half_away, np.ceil(X),
                     np.copysign(Y, X), np.maximum(X - Y, 0).astype(np.float32), np.floor(np.log2(np.abs(X))), np.abs(X)]).astype(np.float32)
    return "numpy float64; every result is exact or rounds once", """
__kernel void parts(__global const float *x, __global const float *y, __global float *out, __global int *exponents, __global int *quotients) {
  int i = get_global_id(0), n = get_global_size(0);
  float a = x[i], b = y[i], whole;
  int e, q;
  out[i] = fract(a, &whole);
  out[n + i] = whole;
  out[2 * n + i] = modf(a, &out[3 * n + i]);
  out[4 * n + i] = frexp(a, &e);
  out[5 * n + i] = remquo(a, b, &q);
  out[6 * n + i] = fmod(a, b);
  out[7 * n + i] = ldexp(a, 3);
  out[8 * n + i] = nextafter(a, b);
  out[9 * n + i] = rint(a);
  out[10 * n + i] = round(a);
  out[11 * n + i] = ceil(a);
  out[12 * n + i] = copysign(b, a);
  out[13 * n + i] = fdim(a, b);
  out[14 * n + i] = logb(a);
  out[15 * n + i] = fabs(a);
  exponents[i] = e * 1000 + ilogb(a);
  // Seven bits of the quotient and its sign.
  quotients[i] = q < 0 ? -(-q & 127) : q & 127;
}""", {"x": inp(x), "y": inp(y), "out": out(rows), "exponents": out((e * 1000 + np.floor(np.log2(np.abs(X)))).astype(np.int32)), "quotients": out(low)}, [
        launch("parts", [n], [25], "x", "y", "out", "exponents", "quotients")]


@case("SHOC, vendor samples", "a float sum by compare-and-swap, exact in any order; every integer atomic, local and global")
def atomics(r):
    n = 170
    x = r.integers(-40, 40, n).astype(np.int32)
    u = (x + 64).astype(np.uint32)
    fsum = np.array([x[i::3].sum() * 0.25 for i in range(3)], np.float32)
    ands = int(np.bitwise_and.reduce(u | 0xFFFFFF80))
    want = np.array([x.sum(), -x.sum(), x.min(), x.max(), n, -n, ands - 2**32, int(np.bitwise_or.reduce(u)), int(np.bitwise_xor.reduce(u)), 1], np.int32)
    local = np.array([x[i : i + 34].max() * 1000 + x[i : i + 34].min() for i in range(0, n, 34)], np.int32)
    return "numpy integers; float32 sums of quarters are exact", """
void add(volatile __global float *p, float v) {
  uint old = *(volatile __global uint *)p, seen;
  while ((seen = atomic_cmpxchg((volatile __global uint *)p, old, as_uint(as_float(old) + v))) != old)
    old = seen;
}
__kernel void every(__global const int *x, volatile __global float *sums, volatile __global int *o, __global int *groups) {
  volatile __local int low, high;
  int i = get_global_id(0), v = x[i];
  if (get_local_id(0) == 0) {
    low = INT_MAX;
    high = INT_MIN;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_min(&low, v);
  atomic_max(&high, v);
  add(&sums[i % 3], v * 0.25f);
  atomic_add(o, v);
  atomic_sub(o + 1, v);
  atomic_min(o + 2, v);
  atomic_max(o + 3, v);
  atomic_inc(o + 4);
  atomic_dec(o + 5);
  atomic_and(o + 6, (v + 64) | 0xffffff80);
  atomic_or(o + 7, v + 64);
  atomic_xor(o + 8, v + 64);
  if (atomic_xchg(o + 9, 1) == 0) // only one sees the zero
    atomic_add(o + 10, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    groups[get_group_id(0)] = high * 1000 + low;
}""", {"x": inp(x), "sums": out(fsum), "o": out(np.append(want, 1).astype(np.int32), init=[0, 0, 2**31 - 1, -2**31, 0, 0, -1, 0, 0, 0, 0]), "groups": out(local)}, [
        launch("every", [n], [34], "x", "sums", "o", "groups")]


@case("vendor samples", "placing queens: backtracking with a stack in private memory, very uneven work")
def queens(r):
    n = 7
    total = np.zeros((n, n), np.int32)

    def place(row, cols, d1, d2):
        if row == n:
            return 1
        return sum(place(row + 1, cols | 1 << c, d1 | 1 << (row + c), d2 | 1 << (row - c + n)) for c in range(n)
                   if not (cols >> c & 1 or d1 >> (row + c) & 1 or d2 >> (row - c + n) & 1))

    for a in range(n):
        for b in range(n):
            if abs(a - b) > 1:
                total[a, b] = place(2, 1 << a | 1 << b, 1 << a | 1 << (1 + b), 1 << (n - a) | 1 << (1 - b + n))
    assert total.sum() == 40
    return "Python recursion", """
// The first two rows are given by the work-item.
__kernel void queens(__global int *solutions, int n) {
  int a = get_global_id(1), b = get_global_id(0), found = 0;
  uchar column[12];
  column[0] = a;
  column[1] = b;
  if (abs_diff(a, b) > 1) {
    int row = 2;
    column[2] = 0;
    while (row >= 2) {
      int c = column[row];
      bool ok = c < n;
      if (!ok) {
        row--;
        if (row >= 2)
          column[row]++;
        continue;
      }
      for (int i = 0; i < row && ok; i++)
        ok = column[i] != c && abs_diff((int)column[i], c) != row - i;
      if (ok && row + 1 < n) {
        row++;
        column[row] = 0;
      } else {
        found += ok;
        column[row]++;
      }
    }
  }
  solutions[a * n + b] = found;
}""", {"solutions": out(total)}, [launch("queens", [n, n], [n, 1], "solutions", I(n))]


@case("all suites", "relational functions on vectors: select, bitselect, isnan, isinf, isless and the rest, any, all, signbit")
def relational(r):
    n = 48
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, 3.5], np.float32)
    x, y = special[r.integers(0, 9, (n, 4))], special[r.integers(0, 9, (n, 4))]
    with np.errstate(invalid="ignore"):
        tests = [np.isnan(x), np.isinf(x), np.isfinite(x), np.signbit(x), x == y, x != y, x < y, x <= y, x > y, x >= y, (x < y) | (x > y),
                 ~(np.isnan(x) | np.isnan(y)), np.isnan(x) | np.isnan(y), np.isfinite(x) & (np.abs(x) >= 2.0**-126)]
        masks = sum(t.astype(np.int32) << i for i, t in enumerate(tests))
        flags = np.array([(x[i] < y[i]).any() * 1 + (x[i] <= y[i]).all() * 2 for i in range(n)], np.int32)
        chosen = np.where(x < y, x, y).view(np.uint32)
    m = r.integers(0, 1 << 32, (n, 4), dtype=np.uint64).astype(np.uint32)
    bits = (x.view(np.uint32) & ~m) | (y.view(np.uint32) & m)
    return "numpy comparisons", """
#define BIT(test, at) (-(test) << at)
__kernel void compare(__global const float4 *x, __global const float4 *y, __global const uint4 *m, __global int4 *masks, __global int *flags,
                      __global float4 *chosen, __global uint4 *bits) {
  int i = get_global_id(0);
  float4 a = x[i], b = y[i];
  masks[i] = BIT(isnan(a), 0) | BIT(isinf(a), 1) | BIT(isfinite(a), 2) | BIT(signbit(a), 3) | BIT(isequal(a, b), 4) | BIT(isnotequal(a, b), 5) |
             BIT(isless(a, b), 6) | BIT(islessequal(a, b), 7) | BIT(isgreater(a, b), 8) | BIT(isgreaterequal(a, b), 9) | BIT(islessgreater(a, b), 10) |
             BIT(isordered(a, b), 11) | BIT(isunordered(a, b), 12) | BIT(isnormal(a), 13);
  flags[i] = any(a < b) | all(a <= b) << 1;
  chosen[i] = select(b, a, a < b);
  bits[i] = as_uint4(bitselect(a, b, as_float4(m[i])));
}""", {"x": inp(x), "y": inp(y), "m": inp(m), "masks": out(masks), "flags": out(flags), "chosen": out(chosen.view(np.float32)), "bits": out(bits)}, [
        launch("compare", [n], [24], "x", "y", "m", "masks", "flags", "chosen", "bits")]


@case("vendor samples", "conversions among 8- to 64-bit integers, float and double: saturation, the four roundings, wrap")
def conversions(r):
    n = 60
    d = np.concatenate([[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 300.5, -300.5, 3e9, -3e9, 1e19, -1e19], r.standard_normal(n - 12) * 10.0 ** r.integers(0, 12, n - 12)])
    l = np.concatenate([[2**63 - 1, -(2**63), 0, -1, 2**53 + 1, 2**24 + 1], r.integers(-(2**62), 2**62, n - 6)]).astype(np.int64)
    sat = lambda v, lo, hi: np.array([int(min(max(int(t), lo), hi)) for t in v.tolist()])
    f = d.astype(np.float32)
    o = np.stack([sat(np.trunc(d), -128, 127), sat(np.rint(d), 0, 255), sat(np.floor(d), -32768, 32767), sat(np.ceil(d), 0, 65535),
                  sat(np.rint(f), -(2**31), 2**31 - 1), sat(np.trunc(f.astype(np.float64)), 0, 2**32 - 1)], 1).astype(np.int64)
    wide = np.stack([sat(np.floor(d), -(2**63), 2**63 - 1), sat(l, -(2**31), 2**31 - 1), l.astype(np.int32).astype(np.int64), sat(l, 0, 255), l.astype(np.int8).astype(np.int64)], 1)

    def nearest(v, dtype):  # one rounding: Python's int to float is correctly rounded, to float32 through exact halves
        if dtype == np.float64:
            return float(v)
        bits = max(abs(v).bit_length() - 24, 0)
        q, rest = abs(v) >> bits, abs(v) & ((1 << bits) - 1)
        q += rest * 2 > 1 << bits or (rest * 2 == 1 << bits and bits and q & 1)
        return float((q << bits) * (1 if v >= 0 else -1))

    return "Python integers", """
__kernel void convert(__global const double *d, __global const long *l, __global long *out, __global long *wide, __global float *f, __global double *g) {
  int i = get_global_id(0);
  double v = d[i];
  float w = (float)v;
  long k = l[i];
  out[i * 6] = convert_char_sat(v);
  out[i * 6 + 1] = convert_uchar_sat_rte(v);
  out[i * 6 + 2] = convert_short_sat_rtn(v);
  out[i * 6 + 3] = convert_ushort_sat_rtp(v);
  out[i * 6 + 4] = convert_int_sat_rte(w);
  out[i * 6 + 5] = convert_uint_sat(w);
  wide[i * 5] = convert_long_sat_rtn(v);
  wide[i * 5 + 1] = convert_int_sat(k);
  wide[i * 5 + 2] = (int)k;
  wide[i * 5 + 3] = convert_uchar_sat(k);
  wide[i * 5 + 4] = (char)k;
  f[i] = (float)k;
  g[i] = (double)k;
}""", {"d": inp(d), "l": inp(l), "out": out(o), "wide": out(wide), "f": out(np.array([nearest(int(v), np.float32) for v in l], np.float32)),
       "g": out(np.array([float(int(v)) for v in l]))}, [launch("convert", [n], [30], "d", "l", "out", "wide", "f", "g")]


@case("vendor samples", "geometry: cross, normalize, length, distance, mix, step and smoothstep on float3 and float4")
def geometry(r):
    n = 43
    a, b, t = f32(r, n, 4, low=0.5, high=2), f32(r, n, 4, low=-2, high=-0.5), f32(r, n, low=0.1, high=0.9)
    A, B = E(a), E(b)
    A3, B3 = [A[:, i] for i in range(3)], [B[:, i] for i in range(3)]
    cross = [A3[1] * B3[2] - A3[2] * B3[1], A3[2] * B3[0] - A3[0] * B3[2], A3[0] * B3[1] - A3[1] * B3[0]]
    dot = lambda x, y: x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    # OpenCL allows length and distance 2.75 + 0.5 n ulp, normalize 2 + n, over the exact sum of squares.
    size = dot(A3, A3).through(np.sqrt, 4.25, 0.0)
    unit = [E(x.v / size.v, 5 * 2 * U32 * np.abs(x.v / size.v)) for x in A3]
    d3 = [x - y for x, y in zip(A3, B3)]
    distance = dot(d3, d3).through(np.sqrt, 4.25, 0.0)
    mix = A + (B - A) * E(t)[:, None]
    u = E(t)
    smooth = u * u * (3.0 - u * 2.0)
    return "numpy float64 with error bounds", """
__kernel void shapes(__global const float4 *a, __global const float4 *b, __global const float *t, __global float *perpendicular, __global float *unit,
                     __global float4 *scalars, __global float4 *mixed) {
  int i = get_global_id(0);
  float3 x = a[i].xyz, y = b[i].xyz;
  vstore3(cross(x, y), i, perpendicular);
  vstore3(normalize(x), i, unit);
  scalars[i] = (float4)(length(x), distance(x, y), dot(x, y), smoothstep(0.0f, 1.0f, t[i]) + step(0.0f, y.x));
  mixed[i] = mix(a[i], b[i], t[i]);
}""", {"a": inp(a), "b": inp(b), "t": inp(t), "perpendicular": out(E(np.stack([c.v for c in cross], 1), np.stack([c.e for c in cross], 1))),
       "unit": out(E(np.stack([c.v for c in unit], 1), np.stack([c.e for c in unit], 1))),
       "scalars": out(stack([size, distance, dot(A3, B3), smooth]).T), "mixed": out(mix)}, [launch("shapes", [n], [43], "a", "b", "t", "perpendicular", "unit", "scalars", "mixed")]


@case("vendor samples", "Game of Life, 32 cells a word: full adders on bits, wrapped borders, generations in local memory")
def life_bits(r):
    h, words, steps = 26, 3, 7
    cells = (r.random((h, 32 * words)) < 0.35).astype(np.uint8)
    pack = lambda c: (c.reshape(h, words, 32).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(2).astype(np.uint32)
    start = pack(cells)
    for _ in range(steps):
        near = sum(np.roll(cells, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        cells = ((near == 3) | ((near == 2) & (cells == 1))).astype(np.uint8)
    return "numpy integers", """
#define H 26
#define W 3
void add(uint x, uint *one, uint *two, uint *four) {
  uint carry = *one & x;
  *one ^= x;
  uint more = *two & carry;
  *two ^= carry;
  *four |= more;
}
__kernel __attribute__((reqd_work_group_size(W, H, 1))) void life(__global uint *cells, int steps) {
  __local uint s[H][W];
  int x = get_local_id(0), y = get_local_id(1), left = (x + W - 1) % W, right = (x + 1) % W;
  s[y][x] = cells[y * W + x];
  for (int k = 0; k < steps; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint one = 0, two = 0, four = 0, me = s[y][x];
    for (int d = -1; d <= 1; d++) {
      __local uint *row = s[(y + d + H) % H];
      uint c = row[x];
      add(c << 1 | row[left] >> 31, &one, &two, &four);
      add(c >> 1 | row[right] << 31, &one, &two, &four);
      if (d != 0)
        add(c, &one, &two, &four);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    s[y][x] = two & ~four & (one | me); // three, or two and alive; eight neighbours carry out of four, which stays set
  }
  cells[y * W + x] = s[y][x];
}""", {"cells": out(pack(cells), init=start)}, [launch("life", [words, h], [words, h], "cells", I(steps))]


@case("SHOC, vendor samples", "stream compaction: flags, work-group scan, one atomic a group for its place; order within a group kept")
def compact(r):
    n, g = 430, 45
    x = r.integers(-100, 100, n).astype(np.int32)
    groups = -(-n // g)
    counts = np.array([(x[i * g : (i + 1) * g] > 20).sum() for i in range(groups)], np.int32)
    # Where a group's part begins depends on the order of groups; the host's second kernel puts the parts in order.
    return "numpy indexing", """
__kernel void compact(__global const int *in, __global int *parts, __global int2 *place, volatile __global int *top, int n) {
  __local int s[64];
  __local int start[1];
  int t = get_local_id(0), g = get_local_size(0), i = get_global_id(0);
  bool keep = i < n && in[i] > 20;
  s[t] = keep;
  for (int step = 1; step < g; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == g - 1) {
    start[0] = atomic_add(top, s[t]);
    place[get_group_id(0)] = (int2)(start[0], s[t]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (keep)
    parts[start[0] + s[t] - 1] = in[i];
}
__kernel void order(__global const int *parts, __global const int2 *place, __global int *counts, __global int *out) {
  int g = get_group_id(0), before = 0;
  for (int k = 0; k < g; k++)
    before += place[k].y;
  for (int i = get_local_id(0); i < place[g].y; i += get_local_size(0))
    out[before + i] = parts[place[g].x + i];
  if (get_local_id(0) == 0)
    counts[g] = place[g].y;
}""", {"in": inp(x), "parts": tmp("int32", n), "place": tmp("int32", groups, 2), "top": out(np.array([counts.sum()], np.int32), init=np.zeros(1)),
       "counts": out(counts), "out": out(np.concatenate([x[x > 20], np.zeros(n - counts.sum(), np.int32)]).astype(np.int32))}, [
        launch("compact", [groups * g], [g], "in", "parts", "place", "top", I(n)), launch("order", [groups * 20], [20], "parts", "place", "counts", "out")]


@case("bioinformatics suites", "edit distance by bit vectors in 64 bits: carries of additions, a table of masks in local memory")
def edit_distance(r):
    n, plen = 36, 45
    pattern = r.integers(0, 4, plen).astype(np.uint8)
    lengths = r.integers(20, 50, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    text = r.integers(0, 4, starts[-1]).astype(np.uint8)
    text[starts[3] : starts[4]] = np.resize(pattern, lengths[3])

    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, c in enumerate(a):
            new = [i + 1]
            for j, d in enumerate(b):
                new.append(min(row[j] + (c != d), row[j + 1] + 1, new[-1] + 1))
            row = new
        return row[-1]

    want = np.array([distance(pattern.tolist(), text[starts[i] : starts[i + 1]].tolist()) for i in range(n)], np.int32)
    return "dynamic programming in Python", """
__kernel void edit(__global const uchar *pattern, __global const uchar *text, __global const int *starts, __global int *distance, int length) {
  __local ulong masks[4];
  int t = get_local_id(0), i = get_global_id(0);
  if (t < 4) {
    ulong m = 0;
    for (int k = 0; k < length; k++)
      m |= (ulong)(pattern[k] == t) << k;
    masks[t] = m;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  ulong up = ~0UL, down = 0, last = 1UL << (length - 1);
  int score = length;
  for (int k = starts[i]; k < starts[i + 1]; k++) {
    ulong eq = masks[text[k]], v = eq | down;
    eq |= ((eq & up) + up) ^ up; // the horizontal runs
    ulong rise = down | ~(eq | up), fall = up & eq;
    score += (rise & last) != 0;
    score -= (fall & last) != 0;
    rise = rise << 1 | 1; // the first row rises by one a column
    fall <<= 1;
    up = fall | ~(v | rise);
    down = rise & v;
  }
  distance[i] = score;
}""", {"pattern": inp(pattern), "text": inp(text), "starts": inp(starts), "distance": out(want)}, [launch("edit", [n], [12], "pattern", "text", "starts", "distance", I(plen))]


@case("vendor samples", "spheres lit from one direction: nearest hit in a loop, square roots on the hitting lanes only, packed pixels")
def raytrace(r):
    w, h, spheres = 29, 22, 6
    s = np.concatenate([f32(r, spheres, 2, low=-0.8, high=0.8), f32(r, spheres, 1, low=2, high=4), f32(r, spheres, 1, low=0.3, high=0.6)], 1)
    light = np.array([0.48, -0.6, -0.64], np.float32)
    yy, xx = np.mgrid[0:h, 0:w]
    X, Y = E(xx) * 0.0625 - 0.9, E(yy) * 0.0625 - 0.7
    depth, which = E(np.full((h, w), 100.0)), np.full((h, w), -1, np.int8)
    for k in range(spheres):
        dx, dy = X - E(s[k, 0]), Y - E(s[k, 1])
        d = E(s[k, 3]) * E(s[k, 3]) - dx * dx - dy * dy
        hit = ~decided(d)
        z = E(s[k, 2]) - sqrt(E(np.where(hit, d.v, 1.0), np.where(hit, d.e, 0.0)))
        nearer = hit & np.where(hit, decided(where(hit, z - depth, E(np.ones((h, w))))), False)
        depth, which = where(nearer, z, depth), np.where(nearer, k, which).astype(np.int8)
    m = np.maximum(which, 0)
    inv = 1.0 / E(s[:, 3])
    take = lambda x: E(x.v[m], x.e[m])
    n = [(X - take(E(s[:, 0]))) * take(inv), (Y - take(E(s[:, 1]))) * take(inv), (depth - take(E(s[:, 2]))) * take(inv)]
    shade = n[0] * E(light[0]) + n[1] * E(light[1]) + n[2] * E(light[2])
    shade = where(which >= 0, shade.exact(lambda v: np.maximum(v, 0)) * 0.9 + 0.1, zeros(h, w))
    depth_out = where(which >= 0, depth, E(np.full((h, w), 100.0)))
    return "numpy float64 with error bounds; no decision is within them", """
typedef struct { float x, y, z, radius; } Sphere;
__kernel void trace(__constant Sphere *spheres, __global float *depth, __global char *which, __global float *shade, int count, int w, int h, float4 light) {
  int i = get_global_id(0), j = get_global_id(1);
  if (i >= w || j >= h)
    return;
  float x = i * 0.0625f - 0.9f, y = j * 0.0625f - 0.7f, nearest = 100.0f, lit = 0.0f;
  int found = -1;
  for (int k = 0; k < count; k++) {
    float dx = x - spheres[k].x, dy = y - spheres[k].y;
    float d = spheres[k].radius * spheres[k].radius - dx * dx - dy * dy;
    if (d < 0.0f)
      continue;
    float z = spheres[k].z - sqrt(d);
    if (z < nearest) {
      nearest = z;
      found = k;
    }
  }
  if (found >= 0) {
    Sphere s = spheres[found];
    float inverse = 1.0f / s.radius;
    float cosine = (x - s.x) * inverse * light.x + (y - s.y) * inverse * light.y + (nearest - s.z) * inverse * light.z;
    lit = fmax(cosine, 0.0f) * 0.9f + 0.1f;
  }
  depth[j * w + i] = nearest;
  which[j * w + i] = found;
  shade[j * w + i] = lit;
}""", {"spheres": inp(s), "depth": out(depth_out), "which": out(which), "shade": out(shade)}, [
        launch("trace", [30, 24], [10, 8], "spheres", "depth", "which", "shade", I(spheres), I(w), I(h), {"f32": [float(v) for v in light] + [0.0]})]


@case("SHOC, vendor samples", "conjugate gradients: a sparse product, dot products by group and their sums, updates; scalars stay in memory")
def conjugate_gradient(r):
    w = 13
    n, g, steps = w * w, 32, 3
    groups = -(-n // g)
    b = r.uniform(-1, 1, n)
    B = E(b, u=U64)
    x, res, p = zeros(n, u=U64), B.copy(), B.copy()

    def a_times(p):
        q = E(np.pad(p.v.reshape(w, w), 1), np.pad(p.e.reshape(w, w), 1), U64)
        c = q[1:-1, 1:-1]
        return (c * 4.5 - q[:-2, 1:-1] - q[2:, 1:-1] - q[1:-1, :-2] - q[1:-1, 2:]).reshape(n)

    def dot(u, v):
        t = u * v
        t = E(np.pad(t.v, (0, groups * g - n)), np.pad(t.e, (0, groups * g - n)), U64).reshape(groups, g)
        s = zeros(u=U64)
        for part in range(groups):
            s = s + tree(t[part])
        return s

    rr = dot(res, res)
    launches = [launch("dots", [groups * g], [g], "res", "res", "parts", I(n)), launch("total", [1], [1], "parts", "scalars", I(groups), I(0))]
    for _ in range(steps):
        q = a_times(p)
        alpha = rr / dot(p, q)
        x, res = x + alpha * p, res - alpha * q
        new = dot(res, res)
        p, rr = res + new / rr * p, new
        launches += [launch("product", [w + 3, w], [4, 1], "p", "q", I(w)), launch("dots", [groups * g], [g], "p", "q", "parts", I(n)),
                     launch("total", [1], [1], "parts", "scalars", I(groups), I(1)), launch("descend", [ceil(n, 20)], [20], "x", "res", "p", "q", "scalars", I(n)),
                     launch("dots", [groups * g], [g], "res", "res", "parts", I(n)), launch("total", [1], [1], "parts", "scalars", I(groups), I(2)),
                     launch("turn", [ceil(n, 20)], [20], "res", "p", "scalars", I(n)), launch("total", [1], [1], "parts", "scalars", I(groups), I(0))]
    return "numpy float64 with error bounds", """
__kernel void product(__global const double *p, __global double *q, int w) {
  int i = get_global_id(0), j = get_global_id(1), at = j * w + i;
  if (i >= w)
    return;
  double v = p[at] * 4.5;
  v -= j > 0 ? p[at - w] : 0.0;
  v -= j < w - 1 ? p[at + w] : 0.0;
  v -= i > 0 ? p[at - 1] : 0.0;
  v -= i < w - 1 ? p[at + 1] : 0.0;
  q[at] = v;
}
__kernel void dots(__global const double *a, __global const double *b, __global double *parts, int n) {
  __local double s[32];
  int t = get_local_id(0), i = get_global_id(0);
  s[t] = i < n ? a[i] * b[i] : 0.0;
  for (int k = 16; k > 0; k >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < k)
      s[t] += s[t + k];
  }
  if (t == 0)
    parts[get_group_id(0)] = s[0];
}
__kernel void total(__global const double *parts, __global double *scalars, int groups, int at) {
  double s = 0.0;
  for (int i = 0; i < groups; i++)
    s += parts[i];
  scalars[at] = s;
}
__kernel void descend(__global double *x, __global double *r, __global const double *p, __global const double *q, __global const double *scalars, int n) {
  int i = get_global_id(0);
  double alpha = scalars[0] / scalars[1];
  if (i < n) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
}
__kernel void turn(__global const double *r, __global double *p, __global const double *scalars, int n) {
  int i = get_global_id(0);
  if (i < n)
    p[i] = r[i] + scalars[2] / scalars[0] * p[i];
}""", {"x": out(x), "res": out(res, init=b), "p": out(p, init=b), "q": tmp("float64", n), "parts": tmp("float64", groups), "scalars": tmp("float64", 3)}, launches


def table():
    """The README's table, before that of generate.py."""
    rows = "\n".join(f"| `{n}` | {idiom} | {suite} |" for n, (_, suite, idiom) in CASES.items())
    begin, end = "<!-- table of generate_suites.py -->", "<!-- end of the table of generate_suites.py -->"
    text = (ROOT / "README.md").read_text()
    head, rest = text.split(begin)
    (ROOT / "README.md").write_text(f"{head}{begin}\n\n| kernel | idiom covered | after the algorithms of |\n|---|---|---|\n{rows}\n\n{end}{rest.split(end)[1]}")


if __name__ == "__main__":
    names = sys.argv[1:]
    for name in names or CASES:
        write(name)
    if not names:
        table()
