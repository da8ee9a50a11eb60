"""Python and the command line give the same bytes and the same cycles, on all test kernels."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import heddle

CASES = sorted((ROOT / "test-kernels").glob("*/case.json"))
SCALARS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
           "i64": np.int64, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def names(case: Path) -> str:
    return case.parent.name


def on_the_command_line(program: Path, case: Path, path: Path) -> dict:
    """The statistics that `heddle run --json` writes to a path, without host times."""
    done = subprocess.run([program, "run", case, "--quiet", "--threads", "1", "--json", path], capture_output=True, text=True)
    assert path.is_file(), done.stderr
    return comparable(json.loads(path.read_text()))


def comparable(statistics: dict) -> dict:
    statistics.pop("host_seconds")
    return statistics


def test_there_are_all_test_kernels():
    assert len(CASES) >= 190


@pytest.mark.parametrize("case", CASES, ids=names)
def test_case_files_run_as_on_the_command_line(case, program, tmp_path):
    run = heddle.run(case, record=False, threads=1)
    assert comparable(run.statistics()) == on_the_command_line(program, case, tmp_path / "json")
    assert run.passed, run.mismatches
    # The same by calls: in timing mode with arrays of the machine, cycle by cycle; in functional mode with numpy's.
    given = json.loads(case.read_text())
    placed = any(b.get("memory") for b in given.get("buffers", {}).values())
    if any("random" in b for b in given.get("buffers", {}).values()):
        return  # Numpy does not make the same ones.
    functional = heddle.run(case, mode="functional", threads=1)
    assert functional.passed
    for mode, whole in (("timing", run), ("functional", functional)):
        if placed and mode == "timing":
            continue
        if mode == "functional" and inside(given):
            continue  # A part of numpy's array is lent alone, and the kernel may look at more.
        buffers, cycles = by_calls(case, given, mode)
        for name, array in buffers.items():
            assert array.tobytes() == whole.buffers[name].tobytes(), f"{mode}: {name}"
        assert cycles == (run.cycles if mode == "timing" else 0)


@pytest.mark.parametrize("case", CASES[::10], ids=names)
def test_functional_mode_is_the_command_lines(case, program, tmp_path):
    words = [program, "run", case, "--quiet", "--mode", "functional", "--threads", "1", "--json", tmp_path / "r.json"]
    subprocess.run(words, check=True)
    run = heddle.run(case, mode="functional", threads=1)
    assert comparable(run.statistics()) == comparable(json.loads((tmp_path / "r.json").read_text()))


def by_calls(case: Path, given: dict, mode: str):
    """Runs a case's launches by calls of its kernels; returns the buffers and all cycles."""
    gpu = heddle.Machine()
    gpu.mode = mode
    source = case.parent / given["source"]
    options = [f"-I{case.parent}", *given.get("options", [])]
    program = gpu.compile(source.read_text(), *options, name=given["source"])
    arrays, images = {}, {}
    for name, buffer in sorted(given.get("buffers", {}).items()):
        values = initial(case, buffer)
        arrays[name] = gpu.array(values, name=name) if mode == "timing" else values.copy()
        if "image" in buffer:
            images[name] = heddle.Image(arrays[name], buffer["image"])
    cycles = 0
    for launch in given["launches"]:
        kernel = program[launch["kernel"]]
        arguments = [argument(kernel.parameters[i], a, arrays, images) for i, a in enumerate(launch.get("args", []))]
        sizes = (tuple(launch["global"]), tuple(launch["local"]) if "local" in launch else None)
        run = kernel[sizes](*arguments, offset=launch.get("offset"), repeat=launch.get("repeat", 1), threads=1)
        cycles += run.cycles or 0
    return {n: np.asarray(a) for n, a in arrays.items()}, cycles


def inside(given: dict) -> bool:
    """Whether kernels get pointers into buffers."""
    return any("buffer" in a and a.get("offset") for launch in given["launches"] for a in launch.get("args", []))


def initial(case: Path, buffer: dict) -> np.ndarray:
    if "npy" in buffer:
        return np.load(case.parent / buffer["npy"])
    if "zeros" in buffer:
        return np.zeros(buffer["zeros"], buffer.get("dtype", "float32"))
    raise AssertionError(buffer)


def argument(parameter, given: dict, arrays: dict, images: dict):
    (kind, value), = ((k, v) for k, v in given.items() if k != "offset")
    if kind == "buffer":
        if parameter.kind == "image":
            return images[value]
        array = np.asarray(arrays[value]) if not isinstance(arrays[value], heddle.Array) else arrays[value]
        if offset := given.get("offset", 0):
            array = array.reshape(-1).view(np.uint8)[offset:]
        # A case's buffers are bytes to its kernels.
        return array.reshape(-1).view(np.uint8).view("V1")
    if kind == "pointer":
        return None
    if kind == "local":
        return heddle.local(value)
    if kind == "sampler":
        return heddle.sampler(**value)
    if kind == "bytes":
        import base64

        return base64.b64decode(value)
    if isinstance(value, list):
        return np.array(value, SCALARS[kind])
    scalar = SCALARS[kind](float(value)) if kind.startswith("f") else np.array(value % 2 ** (8 * SCALARS[kind]().itemsize)).astype(SCALARS[kind])
    return scalar.tobytes()
