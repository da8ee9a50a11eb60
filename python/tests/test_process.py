"""Heddle inside a process of others: Ctrl-C, threads, the interpreter's lock, memory, overhead."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import heddle

FOREVER = "kernel void forever(global int *a) { while (*(volatile global int *)a == 0) a[1]++; }"
SCALE = "kernel void scale(global float *a, float f) { a[get_global_id(0)] *= f; }"


def later(seconds: float, do) -> threading.Timer:
    timer = threading.Timer(seconds, do)
    timer.start()
    return timer


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_ctrl_c_ends_a_launch(gpu, mode):
    kernel = gpu.compile(FOREVER)["forever"]
    a = np.zeros(2, np.int32)
    handler = signal.getsignal(signal.SIGINT)
    timer = later(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        kernel[1](a, mode=mode)
    timer.join()
    assert time.monotonic() - started < 5
    assert signal.getsignal(signal.SIGINT) is handler
    # The machine goes on, and SIGINT is the interpreter's again.
    assert gpu.compile(SCALE)["scale"][4](np.ones(4, np.float32), 2.0, mode=mode)["work_items"] == 4
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)


def test_a_handler_that_raises_nothing(gpu):
    kernel = gpu.compile(FOREVER)["forever"]
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        timer = later(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(heddle.Interrupted, match="interrupted"):
            kernel[1](np.zeros(2, np.int32), mode="functional")
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]


def test_ctrl_c_ends_a_sweep_and_keeps_what_is_done(root, tmp_path):
    code = f"""
import heddle, sys
print("ready", flush=True)
heddle.sweep({str(root / "test-kernels/sgemm_tiled/case.json")!r}, {{"sm.count": list(range(1, 200))}}, folder={str(tmp_path / "s")!r}, progress=False)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "s" / "journal.jsonl"
    for _ in range(300):
        if journal.is_file() and journal.read_text().count("\n") > 3:
            break
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode != 0 and "KeyboardInterrupt" in errors, errors
    done = journal.read_text().count("\n") - 1
    assert 3 <= done < 199 and len(heddle.Sweep(tmp_path / "s").missing()) == 199 - done


def interrupted(code: str) -> tuple[int, str, float]:
    """Runs a program that prints a line when it begins with what takes long, and sends it SIGINT: its status, what it said of
    errors, and how long it took to end."""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begins\n"
    time.sleep(0.7)
    started = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    return child.returncode, errors, time.monotonic() - started


def test_ctrl_c_ends_an_ablation(tmp_path):
    (tmp_path / "k.cl").write_text(FOREVER)
    (tmp_path / "case.json").write_text("""{ "source": "k.cl", "buffers": { "a": { "zeros": [2], "dtype": "int32" } },
        "launches": [{ "kernel": "forever", "global": [1], "args": [{ "buffer": "a" }] }] }""")
    code = f"import heddle\nprint('begins', flush=True)\nheddle.ablate({str(tmp_path / 'case.json')!r})"
    status, errors, seconds = interrupted(code)
    assert status != 0 and "KeyboardInterrupt" in errors and seconds < 20, errors


def test_ctrl_c_ends_a_compilation():
    # Four thousand million statements.
    code = """
import heddle
gpu = heddle.Machine()
print("begins", flush=True)
gpu.compile("#define A(x) x x x x x x x x\\n#define B(x) A(A(A(A(x))))\\nkernel void k(global int *p) { B(B(B(*p += 1;))) }")
"""
    status, errors, seconds = interrupted(code)
    assert status != 0 and "KeyboardInterrupt" in errors and seconds < 10, errors


def test_threads_use_several_machines_at_once():
    text = "kernel void k(global int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[(i * 7) % 64]; a[64 + get_global_id(0)] = s; }"
    expected = None
    results: dict[int, tuple] = {}

    def work(number: int) -> None:
        gpu = heddle.Machine("heddle", **{"sm.count": 2})
        kernel = gpu.compile(text)["k"]
        a = np.arange(128, dtype=np.int32)
        cycles = [kernel[64, 32](a, 200).cycles for _ in range(5)]
        results[number] = (cycles, a.tobytes())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    expected = results[0]
    assert len(results) == 4 and all(r == expected for r in results.values())


def test_threads_share_a_machine(gpu):
    scale = gpu.compile(SCALE)["scale"]
    arrays = [np.ones(512, np.float32) for _ in range(4)]

    def work(a: np.ndarray) -> None:
        for i in range(50):
            scale[512, 64](a, 2.0 if i % 2 == 0 else 0.5, mode="functional" if i % 3 else "timing")

    threads = [threading.Thread(target=work, args=(a,)) for a in arrays]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all((a == 1).all() for a in arrays)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_compiles_and_launches(gpu):
    def works(factor: float) -> bool:
        """Kernels that are compiled side by side, and a launch on several threads of the host."""
        many = "".join(SCALE.replace("scale", f"scale{i}").replace("*= f", f"*= f + {i}") for i in range(4))
        kernel = gpu.compile(f"// {factor}\n{many}")["scale0"]
        a = np.ones(1 << 16, np.float32)
        kernel[a.size](a, factor, mode="functional")
        return bool((a == factor).all())

    assert works(2.0)
    child = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(not works(3.0)))
    child.start()
    child.join(60)
    if child.is_alive():
        child.kill()
        child.join()
    assert child.exitcode == 0
    assert works(4.0)


def test_the_interpreter_is_free_while_heddle_works(gpu):
    kernel = gpu.compile(FOREVER)["forever"]
    a = np.zeros(2, np.int32)
    # Another thread of Python ends the kernel: it can only run if the lock is free, and its array is the kernel's.
    timer = later(0.3, lambda: a.__setitem__(0, 1))
    kernel[1](a, mode="functional")
    timer.join()
    assert a[1] > 0


def test_nothing_leaks_in_a_thousand_runs():
    gpu = heddle.Machine("heddle", **{"sm.count": 1})
    scale = gpu.compile(SCALE)["scale"]
    small, large = np.ones(64, np.float32), np.ones(1 << 18, np.float32)

    def once(i: int) -> None:
        kept = gpu.array(large) if i % 10 == 0 else None
        scale[64, 32](small, 1.0, mode="timing" if i % 2 else "functional")
        scale[64, 32](large, 1.0, mode="timing" if i % 5 == 0 else "functional")
        with pytest.raises(heddle.FaultError):
            scale[128, 32](small, 1.0, mode="functional")
        if i % 100 == 0:
            heddle.Machine().compile(SCALE)["scale"][1](small, 1.0).report()
        del kept

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    for i in range(100):
        once(i)
    free, before = gpu.free_bytes, resident()
    for i in range(1000):
        once(i)
    assert gpu.free_bytes == free
    assert resident() - before < 24 << 20, f"{(resident() - before) >> 20} MiB more after a thousand runs"


def test_programs_that_nobody_has_any_more_take_no_memory():
    gpu = heddle.Machine()
    a = np.zeros(1, np.int32)
    free = gpu.free_bytes

    def once(n: int) -> None:
        program = gpu.compile(f"global int table[1 << 18] = {{{n}}}; kernel void get(global int *a) {{ *a = table[0]; }}", "-cl-std=CL3.0")
        program["get"][1](a)
        assert a[0] == n and gpu.free_bytes < free - (1 << 20)

    for n in range(3):
        once(n)
    assert gpu.free_bytes == free


def test_the_overhead_of_a_launch(gpu):
    """What a call costs above the library's launch, whose time the result has: a median of many, in functional mode."""
    kernel = gpu.compile("kernel void one(global float *a, float f) { *a = f; }")["one"]
    gpu.mode = "functional"
    a = np.ones(64, np.float32)
    launcher = kernel[1, 1]
    times = []
    for _ in range(3000):
        started = time.perf_counter()
        run = launcher(a, 2.0)
        times.append(time.perf_counter() - started - run.seconds)
    overhead = sorted(times)[len(times) // 2]
    # An unoptimised build, on a machine that does other things: docs/PYTHON.md has the figures of the released one.
    assert overhead < 300e-6, f"{overhead * 1e6:.1f} µs"


def test_errors_of_a_machine_without_llvm():
    from heddle._errors import check_clang, without_llvm

    error = without_llvm(ImportError("libLLVM.so.19.1: cannot open shared object file: No such file or directory"))
    assert "apt install libllvm19 clang-19" in str(error) and "libLLVM.so.19.1" in str(error)
    other = ImportError("something else")
    assert without_llvm(other) is other
    assert check_clang("/nowhere/clang") is not None and "apt install" in check_clang("/nowhere/clang")
    assert check_clang(sys.executable) is None


def test_the_warning_of_a_machine_without_clang():
    done = subprocess.run([sys.executable, "-c", "import heddle; heddle.Machine()"], env=os.environ | {"HEDDLE_CLANG": "/nowhere/clang"},
                          capture_output=True, text=True)
    assert done.returncode == 0 and "apt install libllvm19 clang-19" in done.stderr


def test_doctests():
    import doctest

    failed = tried = 0
    for name in ("", ".machine", ".program", ".results", ".plot", ".cases"):
        __import__("heddle" + name)
        module = sys.modules["heddle" + name]
        result = doctest.testmod(module, extraglobs={"heddle": heddle, "np": np},
                                 optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
        failed, tried = failed + result.failed, tried + result.attempted
    assert failed == 0 and tried > 15
