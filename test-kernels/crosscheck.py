#!/usr/bin/env python3
"""Checks the cases against tools other than Heddle: clang compiles every kernel, an OpenCL implementation runs every case.

    python3 crosscheck.py [--clang-only] [NAME or CASE.json ...]

Needs clang-19; for running, pyopencl and an OpenCL implementation such as PoCL. A kernel that uses an extension the device
does not have is compiled and not run.
"""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
# The device's optional features, whose functions clang declares only then.
FEATURES = ["cl_khr_fp16", "cl_khr_fp64", "__opencl_c_fp64", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics",
            "__opencl_c_program_scope_global_variables", "__opencl_c_generic_address_space", "__opencl_c_images",
            "__opencl_c_read_write_images", "cl_khr_3d_image_writes", "__opencl_c_3d_image_writes", "__opencl_c_subgroups", "cl_khr_subgroups"]
MACROS = ["__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device",
          "__opencl_c_work_group_collective_functions", "cl_khr_subgroup_ballot", "cl_khr_subgroup_non_uniform_vote",
          "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_clustered_reduce"]
CLANG = [os.environ.get("HEDDLE_CLANG", "clang-19"), "-x", "cl", "-cl-std=CL3.0", "--target=nvptx64--", "-Xclang",
         "-finclude-default-header", "-Xclang", "-cl-ext=" + ",".join("+" + f for f in FEATURES), *(f"-D{m}=1" for m in MACROS),
         "-Wall", "-Werror", "-O2", "-emit-llvm", "-S", "-o", "-"]
# What shows that a source needs an optional feature.
NEEDS = [(r"to_global\(", "__opencl_c_generic_address_space"), ("work_group_reduce_", "__opencl_c_work_group_collective_functions"),
         ("sub_group_", "__opencl_c_subgroups"), ("read_write image", "__opencl_c_read_write_images"),
         (r"(?m)^(static )?(__global|global) [^()]*;", "__opencl_c_program_scope_global_variables")]
# What PoCL refuses for reasons of its own.
POCL = {"bfs_step": "PoCL finds no kernel that is called like a built-in function"}
KINDS = {"i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
         "f16": "float16", "f32": "float32", "f64": "float64"}


def compile_with_clang(folder, case):
    run = subprocess.run(CLANG + case.get("options", []) + [str(folder / case["source"])], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    # The names clang leaves open must be OpenCL built-ins, not misspellings: all are mangled.
    bad = [n for n in re.findall(r"^declare .*@([\w.]+)\(", run.stdout, re.M) if not n.startswith(("_Z", "llvm.", "__to_", "__translate_sampler_"))]
    return f"calls unknown functions: {', '.join(bad)}" if bad else None


def argument(cl, context, buffers, spec):
    if "offset" in spec:
        buffer = buffers[spec["buffer"]]
        return buffer.get_sub_region(spec["offset"], buffer.size - spec["offset"])
    (kind, value), = spec.items()
    if kind == "buffer":
        return buffers[value]
    if kind == "local":
        return cl.LocalMemory(value)
    if kind == "bytes":
        return base64.b64decode(value)
    values = value if isinstance(value, list) else [value]
    values = values + [0] * ((1 << (len(values) - 1).bit_length()) - len(values))
    return np.array(values, np.float64 if kind[0] == "f" else object).astype(KINDS[kind]).tobytes()


def differences(name, got, want, rtol, atol):
    if want.dtype.kind == "f":
        g, w = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(invalid="ignore"):
            close = (g == w) | (np.isnan(g) & np.isnan(w)) | (np.abs(g - w) <= atol + rtol * np.abs(w))
        if rtol == 0 and atol == 0:
            close &= np.isnan(w) | (np.signbit(g) == np.signbit(w))
    else:
        close = got == want
    bad = np.argwhere(~close)
    if len(bad) == 0:
        finite = np.isfinite(want) if want.dtype.kind == "f" else None
        used = 0.0
        if finite is not None and finite.any() and (rtol or atol):
            g, w = got.astype(np.float64)[finite], want.astype(np.float64)[finite]
            used = float((np.abs(g - w) / (atol + rtol * np.abs(w) + 1e-300)).max())
        return None, used
    lines = [f"{name}{list(i)}: got {got[tuple(i)]!r}, want {want[tuple(i)]!r}" for i in bad[:5]]
    return f"{len(bad)} of {want.size} differ; " + "; ".join(lines), 0


def features(device):
    """Names of the optional features of OpenCL C that a device has."""
    try:
        return {getattr(f, "name", f) if isinstance(getattr(f, "name", f), bytes) else str(getattr(f, "name", f)).encode()
                for f in device.opencl_c_features}
    except Exception:  # older than OpenCL 3.0
        return set()


def run_case(cl, context, queue, folder, case):
    device = context.devices[0]
    source = (folder / case["source"]).read_text()
    for extension in re.findall(r"#pragma OPENCL EXTENSION (\w+)", source):
        if extension not in device.extensions.split():
            return None, f"not run: the device lacks {extension}"
    for sign, feature in NEEDS:
        if re.search(sign, source) and feature.encode() not in features(device):
            return None, f"not run: the device lacks {feature}"
    if any("image" in b for b in case["buffers"].values()):
        return None, "not run: this script makes no images; images/generate.py runs them on PoCL"
    if folder.name in POCL and "pocl" in device.version.lower():
        return None, f"not run: {POCL[folder.name]}"
    partial = any(g % s for launch in case["launches"] for g, s in zip(launch["global"], launch.get("local") or launch["global"]))
    if partial and not getattr(device, "non_uniform_work_group_support", True):
        return None, "not run: the device has no work-groups of different sizes"
    options = case.get("options", [])
    if not any(o.startswith("-cl-std=") for o in options):
        options = ["-cl-std=CL3.0"] + options
    options = options + [f"-I{folder}"]
    program = cl.Program(context, source).build(options=options)
    arrays, buffers = {}, {}
    for name, b in case["buffers"].items():
        if "npy" in b:
            arrays[name] = np.load(folder / b["npy"])
        elif "zeros" in b:
            arrays[name] = np.zeros(b["zeros"], b.get("dtype", "float32"))
        else:
            dtype = np.dtype(b.get("dtype", "float32"))
            low, high = b.get("low", 0), b.get("high", 1 if dtype.kind == "f" else 100)
            arrays[name] = np.random.default_rng(b.get("seed", 0)).uniform(low, high, b["random"]).astype(dtype)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers[name] = cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(arrays[name]))
    for launch in case["launches"]:
        kernel = cl.Kernel(program, launch["kernel"])
        kernel.set_args(*[argument(cl, context, buffers, a) for a in launch["args"]])
        for _ in range(launch.get("repeat", 1)):
            cl.enqueue_nd_range_kernel(queue, kernel, launch["global"], launch.get("local"), launch.get("offset"))
    problems, used = [], 0.0
    for name, b in case["buffers"].items():
        if "expect" in b:
            got = np.empty_like(arrays[name])
            cl.enqueue_copy(queue, got, buffers[name])
            want = np.load(folder / b["expect"])
            problem, u = differences(name, got, want, b.get("rtol", 0), b.get("atol", 0))
            used = max(used, u)
            if problem:
                problems.append(problem)
    queue.finish()
    return "\n    ".join(problems) or None, f"worst error {used:.0%} of the tolerance" if used else "exact"


def main(arguments):
    run = "--clang-only" not in arguments
    names = [a for a in arguments if not a.startswith("--")]
    paths = [Path(n) if n.endswith(".json") else ROOT / n / "case.json" for n in names] or sorted(ROOT.glob("*/case.json"))
    if run:
        import pyopencl as cl
        os.environ.setdefault("PYOPENCL_COMPILER_OUTPUT", "0")
        context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
        queue = cl.CommandQueue(context)
    failed = 0
    for path in paths:
        folder, name = path.parent, path.parent.name
        case = json.loads(path.read_text())
        problem, note = compile_with_clang(folder, case), "compiles"
        if problem is None and run:
            try:
                problem, note = run_case(cl, context, queue, folder, case)
            except cl.Error as error:
                problem = str(error)
        failed += problem is not None
        print(f"{'FAIL' if problem else 'ok  '} {name}: {problem or note}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
