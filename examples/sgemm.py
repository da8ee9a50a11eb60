#!/usr/bin/env python3
"""A product of matrices by pyopencl, with the times of its events.

    heddle exec -- python3 examples/sgemm.py
    heddle exec --mode timing --report out -- python3 examples/sgemm.py --size 128

The times are those of the device's clock: simulated nanoseconds in timing mode. numpy computes the
product in double precision; the exit code is 1 if an element is off by more than rounding allows.
"""

import argparse
import sys
from pathlib import Path

try:
    import numpy as np
    import pyopencl as cl
except ImportError as error:
    sys.exit(f"error: {error}; Debian's packages are python3-numpy and python3-pyopencl")

TILE = 8
HERE = Path(__file__).resolve().parent


def device_of(platform_name):
    """The first device of the first platform whose name has the text."""
    try:
        platforms = cl.get_platforms()
    except cl.LogicError as error:
        sys.exit(f"error: no OpenCL platform: {error}")
    for platform in platforms:
        if platform_name in platform.name:
            devices = platform.get_devices()
            if devices:
                print(f"{platform.name}: {devices[0].name}")
                return devices[0]
    sys.exit(f"error: no OpenCL device of a platform named like {platform_name!r}")


def microseconds(begin, end):
    return (end - begin) * 1e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200, help="rows and columns of the matrices")
    parser.add_argument("--repeat", type=int, default=3, help="launches")
    parser.add_argument("--platform", default="", help="a part of the platform's name")
    options = parser.parse_args()
    if options.size < 1 or options.repeat < 1:
        parser.error("--size and --repeat are at least 1")
    device = device_of(options.platform)
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    source = (HERE / "opencl" / "sgemm.cl").read_text()
    try:
        program = cl.Program(context, source).build(options=[f"-DTILE={TILE}"])
    except cl.RuntimeError as error:
        sys.exit(f"error: the kernel does not build:\n{error}")

    n = options.size
    random = np.random.default_rng(1)
    a = random.uniform(-1, 1, (n, n)).astype(np.float32)
    b = random.uniform(-1, 1, (n, n)).astype(np.float32)
    flags = cl.mem_flags
    a_device = cl.Buffer(context, flags.READ_ONLY, a.nbytes)
    b_device = cl.Buffer(context, flags.READ_ONLY, b.nbytes)
    c_device = cl.Buffer(context, flags.WRITE_ONLY, a.nbytes)
    events = [
        ("write a", cl.enqueue_copy(queue, a_device, a, is_blocking=False)),
        ("write b", cl.enqueue_copy(queue, b_device, b, is_blocking=False)),
    ]
    side = -(-n // TILE) * TILE
    sizes = [np.int32(n)] * 3
    kernel = program.sgemm
    for _ in range(options.repeat):
        launch = kernel(queue, (side, side), (TILE, TILE), *sizes, a_device, b_device, c_device)
        events.append(("sgemm", launch))
    c = np.empty_like(a)
    events.append(("read c", cl.enqueue_copy(queue, c, c_device, is_blocking=False)))
    queue.finish()

    print(f"{'command':10}{'waited µs':>14}{'ran µs':>14}{'GFLOP/s':>10}")
    for name, event in events:
        times = event.profile
        waited = microseconds(times.queued, times.start)
        ran = microseconds(times.start, times.end)
        rate = f"{2e-3 * n**3 / ran:10.2f}" if name == "sgemm" and ran > 0 else ""
        print(f"{name:10}{waited:14.2f}{ran:14.2f}{rate}")

    expected = a.astype(np.float64) @ b.astype(np.float64)
    # A sum of n products in single precision, with every intermediate result rounded.
    allowed = n * np.finfo(np.float32).eps * (np.abs(a).astype(np.float64) @ np.abs(b))
    difference = np.abs(c - expected)
    wrong = np.argwhere(~(difference <= allowed))
    if len(wrong):
        i, j = wrong[0]
        print(f"error: {len(wrong)} of {n * n} elements are wrong; the first is c[{i}][{j}] = {c[i, j]}, "
              f"and should be {expected[i, j]}", file=sys.stderr)
        return 1
    print(f"right: {n * n} elements, largest difference {difference.max():.2e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
