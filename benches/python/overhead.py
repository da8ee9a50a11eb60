"""What a call of a kernel from Python costs above the library's launch, and what large arrays cost: medians, microseconds.

    cargo build --release --example python_overhead
    python benches/python/overhead.py target/release/examples/python_overhead
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import heddle


def median(launcher, arguments, calls: int, **keywords) -> float:
    """The median of the time of a call, µs."""
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        launcher(*arguments, **keywords)
        times.append(time.perf_counter() - started)
    return 1e6 * sorted(times)[calls // 2]


def main(library: str) -> None:
    printed = subprocess.run([library], capture_output=True, text=True, check=True).stdout
    alone = {mode: float(time) for mode, time in map(str.split, printed.splitlines())}
    gpu = heddle.Machine()
    kernel = gpu.compile("kernel void one(global float *a, float f) { *a = f; }")["one"][1, 1]
    print("mode         array             library   Python   above")
    for mode in ("functional", "timing"):
        for size, elements in (("256 bytes", 64), ("64 KiB", 1 << 14), ("64 MiB", 1 << 24)):
            host = np.zeros(elements, np.float32)
            calls = 2000 if elements < 1 << 20 else 50
            for owner, array in (("numpy's", host), ("machine's", gpu.array(host))):
                time = median(kernel, (array, 2.0), calls, mode=mode, record=False)
                print(f"{mode:<12} {owner:<9} {size:>9} {alone[mode]:>8.1f} {time:>8.1f} {time - alone[mode]:>7.1f}")


if __name__ == "__main__":
    main(sys.argv[1])
