#!/usr/bin/env python3
"""Makes the workloads of this folder: the test kernels on launches large enough to fill two SMs several times.

    python3 generate.py             # writes what differs
    python3 generate.py --check     # writes nothing: says what differs; exit code 1 if something does

Nothing is compared here (the test kernels have goldens); benchmarks read cycles, traffic and energy. Seeded: the same bytes every time.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parents[1] / "test-kernels"))
sys.dont_write_bytecode = True
from cases import F, I, L, UI as U, files, launch, settle  # noqa: E402

MADE = {}


def rand(shape, dtype="float32", **more):
    return {"random": list(shape), "dtype": dtype, **more}


def zeros(shape, dtype="float32"):
    return {"zeros": list(shape), "dtype": dtype}


def write(name, buffers, *launches, options=(), source=None):
    shown = [launch(*entry, partial=True) for entry in launches]
    MADE[f"{name}.json"] = files(buffers, shown, options, f"../../test-kernels/{source or name}/kernel.cl")["case.json"]


n = 16384
r = np.random.default_rng(7)
MADE["rows.npy"] = np.concatenate([[0], np.cumsum(r.integers(0, 16, n))]).astype(np.int32)
edges = 8 * n
write("vectoradd_pitch", {"A": rand([200, 144, 4]), "B": rand([200, 144, 4]), "C": zeros([200, 144, 4])},
      ("VectorAdd", [128, 128], [32, 4], "A", "B", "C", I(140), I(142), I(136)))
write("saxpy", {"x": rand([n]), "y": rand([n])}, ("saxpy", [n], [128], "x", "y", F(1.5), U(n)))
write("sgemm_naive", {"A": rand([128, 64]), "B": rand([64, 128]), "C": rand([128, 128])},
      ("sgemm", [128, 128], [32, 4], "A", "B", "C", I(128), I(128), I(64), F(0.75), F(-1.25)))
write("sgemm_tiled", {"A": rand([128, 64]), "B": rand([64, 128]), "C": zeros([128, 128])},
      ("sgemm_tiled", [128, 128], [8, 8], "A", "B", "C", I(128), I(128), I(64)), options=["-DTILE=8"])
write("stencil2d", {"a": rand([128, 128]), "b": zeros([128, 128])},
      ("stencil", [128, 128], [32, 4], "a", "b", I(128), I(128), F(0.5), F(0.1), F(0.025)))
write("reduction", {"x": rand([4 * n]), "partial": zeros([128])}, ("reduce_sum", [n], [128], "x", "partial", L(512), U(4 * n)))
write("scan", {"in": rand([n], "int32"), "out": zeros([n], "int32"), "totals": zeros([n // 100 + 1], "int32")},
      ("scan_groups", [16400], [100], "in", "out", "totals", U(n)), ("add_totals", [16400], [100], "out", "totals", U(n)))
write("histogram", {"in": rand([4 * n], "uint8", low=0, high=256), "bins": zeros([256], "uint32")},
      ("histogram", [8192], [128], "in", "bins", L(1024), U(4 * n)))
write("bitonic_sort", {"keys": rand([2 * n], "uint32", low=0, high=1 << 30), "values": zeros([2 * n], "uint32"), "data": rand([128 * 100])},
      ("bitonic_step", [n], [64], "keys", "values", U(7), U(0)), ("bitonic_step", [n], [64], "keys", "values", U(7), U(3)),
      ("bitonic_local", [100 * 64], [64], "data", L(512), U(128)))
write("mandelbrot", {"out": zeros([192, 256], "int32")},
      ("mandelbrot", [256, 192], [32, 4], "out", F(-2.1), F(-1.2), F(0.0113), F(0.0125), I(60)))
write("transpose", {"in": rand([256, 256]), "out": zeros([256, 256])}, ("transpose", [256, 64], [16, 4], "in", "out", I(256), I(256)))
write("nbody", {"p": rand([1536, 4]), "a": zeros([1536, 4])}, ("nbody", [1536], [64], "p", "a", I(1536)))
write("spmv_csr", {"rows": {"npy": "rows.npy"}, "columns": rand([edges], "int32", low=0, high=n), "values": rand([edges], "float64"),
                   "x": rand([n], "float64"), "y": zeros([n], "float64")}, ("spmv", [n], [64], "rows", "columns", "values", "x", "y", I(n)))
write("bfs_step", {"rows": {"npy": "rows.npy"}, "columns": rand([edges], "int32", low=0, high=n), "level": rand([n], "int32", low=-1, high=3)},
      ("step", [n], [64], "rows", "columns", "level", I(1), I(n)))
write("fft", {"in": rand([256, 2]), "out": zeros([256, 2])}, ("fft", [128 * 64], [128], "in", "out"))
write("black_scholes", {"s": rand([n], low=5, high=30), "k": rand([n], low=1, high=100), "t": rand([n], low=0.25, high=10), "call": zeros([n])},
      ("black_scholes", [n], [64], "s", "k", "t", "call", I(n)))
write("hash64", {"x": rand([n], "uint64", low=0, high=1 << 40)}, ("hash64", [n], [64], "x"))
write("dot_f64", {"a": rand([4 * n], "float64"), "b": rand([4 * n], "float64"), "out": zeros([128], "float64")},
      ("dot_product", [12288], [96], "a", "b", "out", L(768), I(4 * n)))
write("image_filter", {"in": rand([128, 128, 4], "uint8", low=0, high=256), "out": zeros([128, 128, 4], "uint8"), "c": rand([8192, 16], "int8", low=-128, high=128),
                       "d": zeros([8192, 16], "int8")},
      ("sharpen", [128, 128], [32, 4], "in", "out", I(128), I(128)), ("saturate", [8192], [64], "c", "d", I(8192)))
write("state_machine", {"text": rand([8192, 40], "uint8", low=0, high=12), "out": zeros([8192], "int32")}, ("machine", [8192], [64], "text", "out", I(40)))
write("nested_exits", {"a": rand([256], "int32", low=0, high=256), "out": zeros([8192], "int32")}, ("k", [8192], [64], "a", "out", I(40), I(10)))
write("work_items", {"out": zeros([16 * 16 * 32, 8], "int32")}, ("ids", [32, 16, 16], [8, 4, 2], "out"))
write("constant_table", {"idx": rand([n], "int32", low=0, high=8), "out": zeros([n]), "priv": zeros([n], "int32")}, ("lookup", [n], [64], "idx", "out", "priv"))

# Streams with reuse, for the caches: what is reused is of the size of a level-1 cache, the streams are several MiB.
rows, cols = 1024, 4096  # x is 16 KiB, A 16 MiB
write("matvec", {"a": rand([cols, rows]), "x": rand([cols]), "y": zeros([rows])}, ("matvec", [rows], [64], "a", "x", "y", I(rows), I(cols)))
count, dims, k = 1536, 512, 8  # centroids 16 KiB, points 3 MiB; `lookup` reads them again, gathers by membership, writes as much
write("kmeans_assign", {"points": rand([dims, count]), "centroids": rand([dims, k]), "member": zeros([count], "int32"), "distance": zeros([count]),
                        "residual": zeros([dims, count])},
      ("assign", [count], [64], "points", "centroids", "member", "distance", I(count), I(dims)),
      ("lookup", [count], [64], "points", "centroids", "member", "residual", I(count), I(dims)), options=[f"-DK={k}"])
w, h = 2048, 192  # five rows are 40 KiB, input and output 1.5 MiB each
write("conv_stream", {"in": rand([h + 4, w + 4]), "filter": rand([5, 5]), "out": zeros([h, w])},
      ("convolve", [w, h], [64, 2], "in", "filter", "out", I(w), I(h)), options=["-DSIZE=5"])
count, size = 1 << 19, 96 << 10  # table 384 KiB, of the size of a level-2 cache; indices, weights and results 2 MiB each
write("gather_table", {"table": rand([size]), "idx": rand([count], "int32", low=0, high=size), "w": rand([count]), "out": zeros([count])},
      ("gather", [count], [128], "table", "idx", "w", "out", I(count)))
n, width, cols = 32768, 16, 64 << 10  # x 256 KiB, columns and values 2 MiB each
write("spmv_ell", {"column": rand([width, n], "int32", low=0, high=cols), "value": rand([width, n]), "x": rand([cols]), "y": zeros([n])},
      ("spmv", [n], [128], "column", "value", "x", "y", I(n), I(width)))
count, size = 1 << 17, 24 << 10  # table 384 KiB; indices 512 KiB, weights and results 2 MiB each
write("table_rows", {"table": rand([size, 4]), "idx": rand([count], "int32", low=0, high=size), "w": rand([count, 4]), "out": zeros([count, 4])},
      ("scaled_rows", [count], [128], "table", "idx", "w", "out", I(count)))
rows, cols = 256, 12288  # x 48 KiB, A 12 MiB
write("row_dot", {"a": rand([rows, cols]), "x": rand([cols]), "y": zeros([rows])}, ("row_dot", [rows * 256], [256], "a", "x", "y", L(1024), I(cols)))

# Rows per lane: every work-item comes back to lines of its own, and all that an SM can hold come back to more than a
# level-1 cache. Rows of 128 to 512 bytes, matrices of 1 to 4 MiB.
m, k = 8192, 128
alpha, beta = F(1.5), F(-0.75)
write("gemv_rows", {"a": rand([m, k]), "x": rand([k]), "y": rand([m])}, ("rows", [m], [64], "a", "x", "y", alpha, beta, I(m), I(k)))
write("gemv_four_rows", {"a": rand([m, k]), "x": rand([k]), "z": zeros([m])},
      ("four_rows", [m // 4], [64], "a", "x", "z", I(m), I(k)), source="gemv_rows")
write("gesummv_rows", {"a": rand([m, k]), "b": rand([m, k]), "x": rand([k]), "y": zeros([m])},
      ("gesummv", [m], [128], "a", "b", "x", "y", alpha, beta, I(m), I(k)))
write("atax", {"a": rand([4096, 256]), "x": rand([256]), "t": zeros([4096]), "y": zeros([256])},
      ("ax", [4096], [256], "a", "x", "t", I(4096), I(256)), ("aty", [256], [64], "a", "t", "y", I(512), I(256)))
write("rank_k_rows", {"a": rand([192, 96]), "c": rand([192, 192])},
      ("rank_k", [192, 192], [32, 4], "a", "c", alpha, beta, I(192), I(96)))
write("syr2k", {"a": rand([128, 64]), "b": rand([128, 64]), "c": rand([128, 128])},
      ("syr2k", [128, 128], [64, 2], "a", "b", "c", alpha, beta, I(128), I(64)))
write("kmeans_rows", {"points": rand([m, 32]), "centroids": rand([12, 32]), "member": zeros([m], "int32"), "distance": zeros([m])},
      ("assign", [m], [128], "points", "centroids", "member", "distance", I(m), I(12), I(32)))
MADE["long_rows.npy"] = np.concatenate([[0], np.cumsum(r.integers(32, 96, 4096))]).astype(np.int32)
edges, cols = int(MADE["long_rows.npy"][-1]), 2048  # x 16 KiB, columns and values 3 MiB
write("spmv_long_rows", {"rows": {"npy": "long_rows.npy"}, "columns": rand([edges], "int32", low=0, high=cols), "values": rand([edges], "float64"),
                         "x": rand([cols], "float64"), "y": zeros([4096], "float64")},
      ("spmv", [4096], [64], "rows", "columns", "values", "x", "y", I(4096)), source="spmv_csr")

# Short phases of many registers between long waits, for renaming: each group walks along linked lines of its width.
lines, group, count = 8192, 64, 128
walk = {"link": rand([lines], "int32", low=0, high=lines), "data": rand([lines, group], low=-1, high=1)}
table = lambda *shape: rand(shape, low=-1, high=1)
size = [count * group]
write("product_phases", {**walk, "matrices": table(8, 4, 4), "out": zeros(size)}, ("walk", size, [group], "link", "data", "matrices", "out", I(24)))
write("stencil_phases", {**walk, "ground": table(128), "out": zeros(size)}, ("walk", size, [group], "link", "data", "ground", "out", I(24), F(0.25)))
write("nbody_phases", {**walk, "data": table(lines, group, 2), "bodies": table(32, 4), "out": zeros([*size, 4])},
      ("walk", size, [group], "link", "data", "bodies", "out", I(24), F(0.5)))
write("fft_phases", {**walk, "window": table(64, 2), "out": zeros(size)}, ("walk", size, [group], "link", "data", "window", "out", I(24)))

check = sys.argv[1:] == ["--check"]
if sys.argv[1:] and not check:
    sys.exit(__doc__)
differing = settle(ROOT, MADE, check)
for path in differing:
    print(f"{'differs from what its generator makes' if check else 'written'}: {path.name}")
print(f"{len(MADE)} files, {len(differing)} {'differ' if check else 'written'}")
sys.exit(1 if check and differing else 0)
