#!/usr/bin/env python3
"""Makes the workloads of this folder: test kernels on launches of hundreds of waves of work-groups, for `cargo xtask bench sampling`.

    python3 generate.py             # writes what differs
    python3 generate.py --check     # writes nothing: says what differs; exit code 1 if something does

Nothing is compared here (the test kernels have goldens); the bench compares sampled cycles with those of timing everything.
Seeded: the same bytes every time.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parents[1] / "test-kernels"))
sys.dont_write_bytecode = True
from cases import F, I, L, UI as U, files, launch, settle  # noqa: E402

MADE = {}
M = 1 << 20


def rand(shape, dtype="float32", **more):
    return {"random": list(shape), "dtype": dtype, **more}


def zeros(shape, dtype="float32"):
    return {"zeros": list(shape), "dtype": dtype}


def write(name, buffers, *launches, options=(), kernel=None):
    shown = [launch(*entry, partial=True) for entry in launches]
    MADE[f"{name}.json"] = files(buffers, shown, options, f"../../test-kernels/{kernel or name}/kernel.cl")["case.json"]


# Streams and tables.
n = 4 * M
write("saxpy", {"x": rand([n]), "y": rand([n])}, ("saxpy", [n], [128], "x", "y", F(1.5), U(n)))
write("vectoradd_pitch", {"A": rand([1100, 1040, 4]), "B": rand([1100, 1040, 4]), "C": zeros([1100, 1040, 4])},
      ("VectorAdd", [1024, 1024], [32, 4], "A", "B", "C", I(1036), I(1038), I(1032)))
write("constant_table", {"idx": rand([n], "int32", low=0, high=8), "out": zeros([n]), "priv": zeros([n], "int32")},
      ("lookup", [n], [64], "idx", "out", "priv"))
size = 96 << 10
write("gather_table", {"table": rand([size]), "idx": rand([n], "int32", low=0, high=size), "w": rand([n]), "out": zeros([n])},
      ("gather", [n], [128], "table", "idx", "w", "out", I(n)))
count, size = M, 24 << 10
write("table_rows", {"table": rand([size, 4]), "idx": rand([count], "int32", low=0, high=size), "w": rand([count, 4]), "out": zeros([count, 4])},
      ("scaled_rows", [count], [128], "table", "idx", "w", "out", I(count)))
write("transpose", {"in": rand([2048, 2048]), "out": zeros([2048, 2048])}, ("transpose", [2048, 512], [16, 4], "in", "out", I(2048), I(2048)))

# Neighbours.
write("stencil2d", {"a": rand([2048, 2048]), "b": zeros([2048, 2048])},
      ("stencil", [2048, 2048], [32, 4], "a", "b", I(2048), I(2048), F(0.5), F(0.1), F(0.025)))
w, h = 2048, 2048
write("conv_stream", {"in": rand([h + 4, w + 4]), "filter": rand([5, 5]), "out": zeros([h, w])},
      ("convolve", [w, h], [64, 2], "in", "filter", "out", I(w), I(h)), options=["-DSIZE=5"])
write("image_filter", {"in": rand([h, w, 4], "uint8", low=0, high=256), "out": zeros([h, w, 4], "uint8")},
      ("sharpen", [w, h], [32, 4], "in", "out", I(w), I(h)))
write("sobel", {"in": rand([h, w], "uint8", low=0, high=256), "magnitude": zeros([h, w], "uint8"), "direction": zeros([h, w], "int8")},
      ("sobel", [w // 4, h], [32, 4], "in", "magnitude", "direction", I(w), I(h)))
write("bilateral", {"in": rand([1024, 1024]), "out": zeros([1024, 1024]), "space": rand([25])},
      ("bilateral", [1024, 1024], [32, 4], "in", "out", "space", I(1024), I(1024)))
write("lbm", {"f": rand([9, 1024, 1024], low=0.05, high=0.2), "other": zeros([9, 1024, 1024]), "solid": zeros([1024, 1024], "uint8")},
      ("collide_and_push", [1024, 1024], [64, 2], "f", "other", "solid", I(1024), I(1024), F(1.1)))
write("conv_channels", {"in": rand([3, 512, 512]), "weight": rand([16, 3, 9]), "bias": rand([16]), "out": zeros([16, 512, 512])},
      ("conv", [512, 512, 16], [32, 4, 1], "in", "weight", "bias", "out", I(512), I(512), I(3)))

# Products and sums.
write("sgemm_naive", {"A": rand([1024, 64]), "B": rand([64, 1024]), "C": rand([1024, 1024])},
      ("sgemm", [1024, 1024], [32, 4], "A", "B", "C", I(1024), I(1024), I(64), F(0.75), F(-1.25)))
write("sgemm_tiled", {"A": rand([1024, 128]), "B": rand([128, 1024]), "C": zeros([1024, 1024])},
      ("sgemm_tiled", [1024, 1024], [8, 8], "A", "B", "C", I(1024), I(1024), I(128)), options=["-DTILE=8"])
rows, cols = 1 << 20, 48
write("matvec", {"a": rand([cols, rows]), "x": rand([cols]), "y": zeros([rows])}, ("matvec", [rows], [64], "a", "x", "y", I(rows), I(cols)))
rows, cols = 16 << 10, 512
write("row_dot", {"a": rand([rows, cols]), "x": rand([cols]), "y": zeros([rows])}, ("row_dot", [rows * 256], [256], "a", "x", "y", L(1024), I(cols)))
n, width, cols = 512 << 10, 16, 64 << 10
write("spmv_ell", {"column": rand([width, n], "int32", low=0, high=cols), "value": rand([width, n]), "x": rand([cols]), "y": zeros([n])},
      ("spmv", [n], [128], "column", "value", "x", "y", I(n), I(width)))
n = 2 * M
write("reduction", {"x": rand([4 * n]), "partial": zeros([n // 128])}, ("reduce_sum", [n], [128], "x", "partial", L(512), U(4 * n)))
n = 3 << 18
write("dot_f64", {"a": rand([4 * n], "float64"), "b": rand([4 * n], "float64"), "out": zeros([n // 96], "float64")},
      ("dot_product", [n], [96], "a", "b", "out", L(768), I(4 * n)))
n = 512 << 10
write("histogram", {"in": rand([4 * n], "uint8", low=0, high=256), "bins": zeros([256], "uint32")},
      ("histogram", [n], [128], "in", "bins", L(1024), U(4 * n)))
write("fft", {"in": rand([256, 2]), "out": zeros([256, 2])}, ("fft", [128 * 8192], [128], "in", "out"))

# Arithmetic, the same for all.
n = 2 * M
write("black_scholes", {"s": rand([n], low=5, high=30), "k": rand([n], low=1, high=100), "t": rand([n], low=0.25, high=10), "call": zeros([n])},
      ("black_scholes", [n], [64], "s", "k", "t", "call", I(n)))
write("md5", {"blocks": rand([512 << 10, 16], "uint32", low=0, high=1 << 30), "digests": zeros([512 << 10, 16], "uint8")},
      ("md5", [512 << 10], [64], "blocks", "digests"))
n = 1 << 20
write("monte_carlo", {"seeds": rand([n], "uint32", low=1, high=1 << 30), "normals": zeros([8, n]), "mean": zeros([n // 64])},
      ("price", [n], [64], "seeds", "normals", "mean", L(256), I(4)))
n = 2 * M
write("knn", {"points": rand([n, 2]), "distance": zeros([n]), "least": zeros([n // 64]), "index": zeros([n // 64], "int32")},
      ("nearest", [n], [64], "points", "distance", "least", "index", {"f32": [12.5, -33.25]}, L(256), L(256)))
count, dims, k = 1 << 20, 16, 8
write("kmeans_assign", {"points": rand([dims, count]), "centroids": rand([dims, k]), "member": zeros([count], "int32"), "distance": zeros([count])},
      ("assign", [count], [64], "points", "centroids", "member", "distance", I(count), I(dims)), options=[f"-DK={k}"])

# Work-groups that differ.
write("mandelbrot", {"out": zeros([1024, 1024], "int32")},
      ("mandelbrot", [1024, 1024], [32, 4], "out", F(-2.1), F(-1.2), F(0.0028), F(0.0024), I(60)))
n = 512 << 10
write("nested_exits", {"a": rand([256], "int32", low=0, high=256), "out": zeros([n], "int32")}, ("k", [n], [64], "a", "out", I(40), I(10)))
write("state_machine", {"text": rand([n, 40], "uint8", low=0, high=12), "out": zeros([n], "int32")}, ("machine", [n], [64], "text", "out", I(40)))
write("raytrace", {"spheres": rand([6, 4], low=0.5, high=2.0), "depth": zeros([2048, 2048]), "which": zeros([2048, 2048], "int8"), "shade": zeros([2048, 2048])},
      ("trace", [2048, 2048], [32, 4], "spheres", "depth", "which", "shade", I(6), I(2048), I(2048), {"f32": [0.48, -0.6, -0.64, 0.0]}))

# A hundred million warp instructions and more.
n = 16 * M
write("hash64_large", {"x": rand([n], "uint64", low=0, high=1 << 40)}, ("hash64", [n], [64], "x"), kernel="hash64")
write("mandelbrot_large", {"out": zeros([4096, 4096], "int32")},
      ("mandelbrot", [4096, 4096], [32, 4], "out", F(-2.1), F(-1.2), F(0.0007), F(0.0006), I(60)), kernel="mandelbrot")
write("sgemm_large", {"A": rand([3072, 160]), "B": rand([160, 2048]), "C": rand([3072, 2048])},
      ("sgemm", [2048, 3072], [32, 4], "A", "B", "C", I(3072), I(2048), I(160), F(0.75), F(-1.25)), kernel="sgemm_naive")
write("bilateral_large", {"in": rand([3072, 2048]), "out": zeros([3072, 2048]), "space": rand([25])},
      ("bilateral", [2048, 3072], [32, 4], "in", "out", "space", I(2048), I(3072)), kernel="bilateral")

check = sys.argv[1:] == ["--check"]
if sys.argv[1:] and not check:
    sys.exit(__doc__)
differing = settle(ROOT, MADE, check)
for path in differing:
    print(f"{'differs from what its generator makes' if check else 'written'}: {path.name}")
print(f"{len(MADE)} files, {len(differing)} {'differ' if check else 'written'}")
sys.exit(1 if check and differing else 0)
