"""Seconds that PoCL takes for the first launch of a case, the best of so many: python3 pocl.py CASE.json LAUNCHES

Needs numpy, pyopencl and PoCL; exit code 3 says that PoCL is not there.
"""
import json
import os
import sys
import time

os.environ.setdefault("PYOPENCL_CTX", "0")
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
import numpy as np
import pyopencl as cl

path = sys.argv[1]
folder = os.path.dirname(os.path.abspath(path))
case = json.load(open(path))
try:
    platform = next(p for p in cl.get_platforms() if "Portable" in p.name or "pocl" in p.name.lower())
    context = cl.Context(platform.get_devices())
except (StopIteration, cl.Error):
    print("PoCL is not installed", file=sys.stderr)
    sys.exit(3)
queue = cl.CommandQueue(context)
program = cl.Program(context, open(os.path.join(folder, case["source"])).read()).build(case.get("options", []))
buffers = {}
for name, b in case["buffers"].items():
    shape = b.get("zeros") or b["random"]
    random = np.random.default_rng(b.get("seed", 0))
    if "zeros" in b:
        data = np.zeros(shape, b["dtype"])
    elif np.dtype(b["dtype"]).kind == "f":
        data = random.random(shape).astype(b["dtype"])
    else:
        data = random.integers(b["low"], b["high"], shape, b["dtype"])
    buffers[name] = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
launch = case["launches"][0]
types = {"i32": np.int32, "f32": np.float32}
arguments = []
for a in launch["args"]:
    (kind, value), = a.items()
    if kind == "buffer":
        arguments.append(buffers[value])
    elif kind == "local":
        arguments.append(cl.LocalMemory(value))
    else:
        arguments.append(types[kind](value))
kernel = getattr(program, launch["kernel"])
best = None
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    kernel(queue, launch["global"], launch["local"], *arguments)
    queue.finish()
    seconds = time.perf_counter() - start
    best = seconds if best is None else min(best, seconds)
print(best)
