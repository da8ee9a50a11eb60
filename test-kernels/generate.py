#!/usr/bin/env python3
"""Makes the cases of the test kernels: case.json, inputs and golden outputs.

    python3 generate.py                 # writes all that differ, and the table of README.md
    python3 generate.py saxpy fft       # some folders
    python3 generate.py --check         # writes nothing: says what differs from what the generators make

The kernels themselves are the kernel.cl files; NAME/generate.py makes what a kernel is run and judged with (cases.py says how).
Seeded: the same bytes every time. Exit code 1 if something differs, 2 for a folder that is not there. Needs numpy; a folder whose
generator needs more than is installed is named at the end and left alone.
"""

import importlib.util
import sys
import zlib
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
import cases  # noqa: E402: leaves no __pycache__ beside the kernels

ROOT = Path(__file__).resolve().parent
BEGIN, END = "<!-- table: written by generate.py -->\n", "<!-- end of the table -->\n"


def load(name):
    """The generator of a folder, as a module."""
    spec = importlib.util.spec_from_file_location(f"generate_{name}", ROOT / name / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one(name, check):
    """Writes or checks a folder. Returns the differing files."""
    folder, module = ROOT / name, load(name)
    seed = getattr(module, "SEED", zlib.crc32(name.encode()))
    made = cases.files(*module.make(np.random.default_rng(seed)))
    differing = cases.settle(folder, made, check)
    for old in folder.glob("*.npy"):
        if old.name not in made:
            differing.append(old)
            if not check:
                old.unlink()
    return differing


def table():
    """The README with its table as the folders say it."""
    rows = ["| kernel | idiom covered | golden | after the algorithms of |", "|---|---|---|---|"]
    for name in folders():
        module = load(name)
        idiom = " ".join(module.__doc__.split("\n\n")[0].split()).rstrip(".")
        first = (ROOT / name / "kernel.cl").read_text().splitlines()[0]
        golden = first[10:].strip().rstrip(".") if first.lower().startswith("// golden:") else ""
        rows.append(f"| `{name}` | {idiom} | {golden} | {getattr(module, 'AFTER', '')} |")
    text = (ROOT / "README.md").read_text()
    head, rest = text.split(BEGIN)
    return head + BEGIN + "\n" + "\n".join(rows) + "\n\n" + END + rest.split(END)[1]


def folders():
    return sorted(p.parent.name for p in ROOT.glob("*/kernel.cl"))


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if not a.startswith("--")]
    unknown = [n for n in names if not (ROOT / n / "generate.py").is_file()] + [
        a for a in arguments if a.startswith("--") and a != "--check"
    ]
    if unknown:
        print(f"no test kernel and no option of these names: {', '.join(unknown)}\n{__doc__}", file=sys.stderr)
        return 2
    differing, left_out, done = [], [], 0
    for name in names or folders():
        try:
            differing += one(name, check)
            done += 1
        except ImportError as error:
            left_out.append(f"{name} (no {error.name})")
    if not names:
        new, path = table(), ROOT / "README.md"
        if new != path.read_text():
            differing.append(path)
            if not check:
                path.write_text(new)
    for path in differing:
        print(f"{'differs from what its generator makes' if check else 'written'}: {path.relative_to(ROOT)}")
    print(f"{done} generators, {len(differing)} files {'differ' if check else 'written'}")
    if left_out:
        print(f"left out: {', '.join(left_out)}")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
