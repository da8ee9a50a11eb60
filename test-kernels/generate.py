#!/usr/bin/env python3
"""Writes every case of this folder: case.json, inputs and golden outputs, and the table of README.md.

    python3 generate.py            # all cases
    python3 generate.py saxpy fft  # some of them; the table is left alone

Goldens come from numpy and Python integers only; no OpenCL implementation takes part. crosscheck.py compares them with one.
Everything is seeded: two runs write the same bytes. A case is one function below, named after its folder.
"""

import base64
import json
import math
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
EPS32 = 2.0**-24  # half an ulp of 1: the relative error of one float32 operation
EPS64 = 2.0**-53
CASES = []


class Case:
    """One case folder. Buffers keep the order of their definition."""

    def __init__(self, name, options=()):
        self.folder = ROOT / name
        self.name = name
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.json = {"source": "kernel.cl"}
        if options:
            self.json["options"] = list(options)
        self.json["buffers"] = {}
        self.json["launches"] = []
        self.files = {}

    def _npy(self, file, array):
        array = np.ascontiguousarray(array)
        assert array.dtype.isnative and array.dtype.kind in "iuf", array.dtype
        self.files[file] = array
        return file

    def input(self, name, array):
        """A buffer that no launch changes; that too is checked."""
        file = self._npy(f"{name}.npy", array)
        self.json["buffers"][name] = {"npy": file, "expect": file}
        return {"buffer": name}

    def output(self, name, expect, rtol=0.0, atol=0.0, init=None, padding=0):
        """A buffer with a golden; zeros at first unless `init` is given. Padding adds elements that must stay as they were."""
        expect = np.asarray(expect)
        if padding:
            expect = np.concatenate([expect.reshape(-1), np.zeros(padding, expect.dtype)])
        b = {}
        if init is None:
            b["zeros"] = list(expect.shape)
            b["dtype"] = expect.dtype.name
        else:
            init = np.asarray(init)
            assert init.shape == expect.shape and init.dtype == expect.dtype, name
            b["npy"] = self._npy(f"{name}.npy", init)
        b["expect"] = self._npy(f"{name}.expect.npy", expect)
        b["rtol"] = float(f"{rtol:.2g}")
        b["atol"] = float(f"{atol:.2g}")
        self.json["buffers"][name] = b
        return {"buffer": name}

    def scratch(self, name, shape, dtype):
        """A buffer between launches, not compared."""
        self.json["buffers"][name] = {"zeros": list(shape), "dtype": np.dtype(dtype).name}
        return {"buffer": name}

    def launch(self, kernel, global_size, local, args, offset=None, repeat=1):
        assert len(global_size) == len(local) and all(g % l == 0 for g, l in zip(global_size, local)), (kernel, global_size, local)
        entry = {"kernel": kernel, "global": list(global_size), "local": list(local)}
        if offset is not None:
            entry["offset"] = list(offset)
        if repeat != 1:
            entry["repeat"] = repeat
        entry["args"] = list(args)
        self.json["launches"].append(entry)

    def write(self):
        first = (self.folder / "kernel.cl").read_text().splitlines()[0]
        assert first.startswith("// golden: "), f"{self.name}/kernel.cl: the first line says where the golden comes from"
        self.golden = first.removeprefix("// golden: ")
        for old in self.folder.glob("*.npy"):
            if old.name not in self.files:
                old.unlink()
        for file, array in self.files.items():
            np.save(self.folder / file, array, allow_pickle=False)
        (self.folder / "case.json").write_text(self.text())

    def text(self):
        """JSON with one buffer and one launch a line."""
        out = [f'{{\n  "source": {json.dumps(self.json["source"])},']
        if "options" in self.json:
            out.append(f'  "options": {json.dumps(self.json["options"])},')
        out.append('  "buffers": {')
        out.append(",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in self.json["buffers"].items()))
        out.append('  },\n  "launches": [')
        out.append(",\n".join(f"    {json.dumps(v)}" for v in self.json["launches"]))
        out.append("  ]\n}\n")
        return "\n".join(out)

    def tolerance(self):
        worst = [(b.get("rtol", 0), b.get("atol", 0)) for b in self.json["buffers"].values() if "rtol" in b]
        if all(r == 0 and a == 0 for r, a in worst):
            return "exact"
        parts = {f"{r:g} / {a:g}" for r, a in worst if r or a}
        return ", ".join(sorted(parts)) + (" (others exact)" if any(r == 0 and a == 0 for r, a in worst) else "")


def case(idiom, options=()):
    """Registers a function as the maker of the case of its name."""

    def register(function):
        CASES.append((function.__name__, idiom, options, function))
        return function

    return register


def i32(v):
    return {"i32": int(v)}


def u32(v):
    return {"u32": int(v)}


def f32(v):
    """The value as the nearest float32, so that the golden and the kernel see the same number."""
    return {"f32": float(np.float32(v))}


def local(size):
    return {"local": int(size)}


def packed(layout, *values):
    return {"bytes": base64.b64encode(struct.pack(layout, *values)).decode()}


def up(n, step):
    return (n + step - 1) // step * step


def floats(rng, shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).astype(np.float32)


# --------------------------------------------------------------------------------------------------------------------------------


@case("2-D pitched addresses, float4, pitches as arguments (G-ex1); partial warps")
def vectoradd_pitch(c):
    w, h, wa, wb, wc = 40, 12, 47, 49, 41
    a = floats(c.rng, (h + 2, wa, 4))
    b = floats(c.rng, (h + 3, wb, 4))
    want = np.zeros((h, wc, 4), np.float32)
    for y in range(h):
        for x in range(w):
            # As the kernel indexes: the linear index may run past a row's end.
            ia, ib = (y + 2) * wa + x + 5, (y + 3) * wb + x + 6
            want[y, x] = a.reshape(-1, 4)[ia].astype(np.float64) + b.reshape(-1, 4)[ib]
    args = [c.input("A", a), c.input("B", b), c.output("C", want), i32(wa), i32(wb), i32(wc)]
    c.launch("VectorAdd", [w, h], [20, 3], args)


@case("streaming, bounds guard, global size rounded up")
def saxpy(c):
    n, a = 1003, np.float32(1.7)
    x, y = floats(c.rng, n, -10, 10), floats(c.rng, n, -10, 10)
    want = float(a) * x.astype(np.float64) + y
    # Two roundings (one if contracted): of a*x, up to 17, and of the sum.
    args = [c.input("x", x), c.output("y", want.astype(np.float32), EPS32 * 2, 17 * EPS32, init=y), f32(a), u32(n)]
    c.launch("saxpy", [up(n, 64)], [64], args)


def product_bound(k, a, b):
    """Of a matrix product's error: k products and k sums, so that a term is rounded at most k+1 times."""
    return (k + 1) * EPS32 * (np.abs(a.astype(np.float64)) @ np.abs(b)).max()


@case("inner product loop, uniform loads, early return")
def sgemm_naive(c):
    m, n, k = 37, 50, 41
    a, b, d = floats(c.rng, (m, k)), floats(c.rng, (k, n)), floats(c.rng, (m, n))
    alpha, beta = np.float32(0.75), np.float32(-1.25)
    want = float(alpha) * (a.astype(np.float64) @ b) + float(beta) * d
    atol = float(alpha) * product_bound(k + 2, a, b) + 3 * EPS32
    args = [c.input("A", a), c.input("B", b), c.output("C", want.astype(np.float32), 0, atol, init=d)]
    c.launch("sgemm", [up(n, 20), up(m, 5)], [20, 5], args + [i32(m), i32(n), i32(k), f32(alpha), f32(beta)])


@case("static local arrays, barriers, unrolled inner loop", ["-DTILE=8"])
def sgemm_tiled(c):
    m, n, k = 45, 52, 43
    a, b = floats(c.rng, (m, k)), floats(c.rng, (k, n))
    want = a.astype(np.float64) @ b
    args = [c.input("A", a), c.input("B", b), c.output("C", want.astype(np.float32), 0, product_bound(k, a, b))]
    c.launch("sgemm_tiled", [up(n, 8), up(m, 8)], [8, 8], args + [i32(m), i32(n), i32(k)])


@case("2-D neighbourhood, divergent border, ping-pong launches")
def stencil2d(c):
    w, h = 66, 50
    wc, we, wd = (np.float32(v) for v in (0.5, 0.1, 0.025))
    a = floats(c.rng, (h, w))

    def sweep(s):
        d = s.copy()
        m = s[1:-1, 1:-1]
        edges = s[1:-1, :-2] + s[1:-1, 2:] + s[:-2, 1:-1] + s[2:, 1:-1]
        corners = s[:-2, :-2] + s[:-2, 2:] + s[2:, :-2] + s[2:, 2:]
        d[1:-1, 1:-1] = float(wc) * m + float(we) * edges + float(wd) * corners
        return d

    one = sweep(a.astype(np.float64))
    two = sweep(one)
    # A sweep rounds each term at most 7 times; its weights sum to 1, so the second sweep passes the first one's error on.
    final = c.output("a", two.astype(np.float32), 0, 14 * EPS32, init=a)
    between = c.output("b", one.astype(np.float32), 0, 7 * EPS32)
    rest = [i32(w), i32(h), f32(wc), f32(we), f32(wd)]
    c.launch("stencil", [w, h], [11, 5], [final, between] + rest)
    c.launch("stencil", [w, h], [11, 5], [between, final] + rest)


@case("local memory as an argument (one and two), barriers in a loop, odd work-group sizes, grid-stride loop")
def reduction(c):
    n, groups, size = 5003, 5, 96
    x = floats(c.rng, n)
    v = c.rng.integers(-(2**31), 2**31, n, dtype=np.int64).astype(np.int32)
    parts = [0.0] * groups
    total = groups * size
    group_of = (np.arange(n) % total) // size
    for g in range(groups):
        parts[g] = float(x[group_of == g].astype(np.float64).sum())
    # About n/(groups*size) + log2(size) + groups additions lie on the way from an element to the sum; |x| sums to about n/2.
    depth = math.ceil(n / total) + 7
    atol = depth * EPS32 * np.abs(x).sum() / groups * 1.1
    part = c.output("partial", np.array(parts, np.float32), 0, atol)
    final = c.output("sum", np.array([math.fsum(x.tolist())], np.float32), 0, (depth + groups) * EPS32 * np.abs(x).sum())
    c.launch("reduce_sum", [total], [size], [c.input("x", x), part, local(size * 4), u32(n)])
    c.launch("reduce_sum", [33], [33], [part, final, local(33 * 4), u32(groups)])
    small = 75
    total2 = groups * small
    group_of = (np.arange(n) % total2) // small
    ints = np.zeros((groups, 3), np.int32)
    for g in range(groups):
        w = v[group_of == g]
        ints[g] = w.min(), w.max(), np.bitwise_xor.reduce(w)
    c.launch("reduce_int", [total2], [small], [c.input("v", v), c.output("extremes", ints), local(small * 8), local(small * 4), u32(n)])


@case("work-group prefix sum, three launches' worth of dependence, last warp partial")
def scan(c):
    n, group = 1234, 100
    v = c.rng.integers(-(2**30), 2**30, n).astype(np.int32)
    want = np.cumsum(v.astype(np.int64)).astype(np.int32)
    size = up(n, group)
    padded = np.zeros(size, np.int64)
    padded[:n] = v
    totals = padded.reshape(-1, group).sum(axis=1).astype(np.int32)
    out, t = c.output("result", want, padding=7), c.output("totals", totals)
    c.launch("scan_groups", [size], [group], [c.input("in", v), out, t, u32(n)])
    c.launch("add_totals", [size], [group], [out, t, u32(n)])


@case("local and global integer atomics with collisions, local argument")
def histogram(c):
    n = 10007
    v = np.clip(c.rng.normal(128, 40, n), 0, 255).astype(np.uint8)
    v[c.rng.random(n) < 0.2] = 77
    bins = np.bincount(v, minlength=256).astype(np.uint32)
    c.launch("histogram", [500], [100], [c.input("in", v), c.output("bins", bins), local(1024), u32(n)])


@case("45 launches on one buffer; a network in local memory with barriers in nested loops")
def bitonic_sort(c):
    n = 512
    keys = c.rng.choice(2**32, n, replace=False).astype(np.uint32)
    order = np.argsort(keys)
    k = c.output("keys", keys[order], init=keys)
    v = c.output("values", order.astype(np.uint32), init=np.arange(n, dtype=np.uint32))
    for stage in range(9):
        for step in range(stage + 1):
            c.launch("bitonic_step", [n // 2], [64], [k, v, u32(stage), u32(step)])
    data = floats(c.rng, (3, 128), -1000, 1000)
    d = c.output("data", np.sort(data, axis=1), init=data)
    c.launch("bitonic_local", [3 * 50], [50], [d, local(128 * 4), u32(128)])


@case("loop with divergent exits, no memory traffic")
def mandelbrot(c):
    w, h, limit = 60, 48, 150
    x0, y0, dx, dy = (np.float32(v) for v in (-2.1, -1.2, 2.9 / 60, 2.4 / 48))
    f = np.float32
    px, py = np.meshgrid(np.arange(w, dtype=f), np.arange(h, dtype=f))
    cx, cy = x0 + dx * px, y0 + dy * py
    assert cx.dtype == f
    x, y = np.zeros_like(cx), np.zeros_like(cx)
    count = np.full((h, w), limit, np.int32)
    alive = np.ones((h, w), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(limit):
            xx, yy = x * x, y * y
            out = alive & (xx + yy > f(4))
            count[out] = i
            alive &= ~out
            y = f(2) * x * y + cy
            x = xx - yy + cx
    assert x.dtype == f
    c.launch("mandelbrot", [w, h], [20, 3], [c.output("result", count), f32(x0), f32(y0), f32(dx), f32(dy), i32(limit)])


@case("tile in local memory with padding, both edges guarded")
def transpose(c):
    w, h = 70, 45
    a = floats(c.rng, (h, w))
    args = [c.input("in", a), c.output("result", a.T), i32(w), i32(h)]
    c.launch("transpose", [up(w, 16), up(h, 16) // 16 * 4], [16, 4], args)


# CASES END


def table():
    rows = ["| kernel | idiom covered | golden | rtol / atol |", "|---|---|---|---|"]
    for name, idiom, options, function in CASES:
        c = make(name, options, function)
        rows.append(f"| `{name}` | {idiom} | {c.golden} | {c.tolerance()} |")
    return "\n".join(rows)


def make(name, options, function):
    c = Case(name, options)
    function(c)
    c.write()
    return c


def main(names):
    known = {name for name, *_ in CASES}
    for name in names:
        if name not in known:
            sys.exit(f"no case `{name}`; there are: {', '.join(sorted(known))}")
    if names:
        for entry in CASES:
            if entry[0] in names:
                make(entry[0], *entry[2:])
        return
    readme = ROOT / "README.md"
    head, mark, _ = readme.read_text().partition("<!-- table: written by generate.py -->\n")
    readme.write_text(head + mark + "\n" + table() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
