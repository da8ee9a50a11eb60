#!/usr/bin/env python3
"""Makes kernel.spvasm of kernel.cl, the same kernel in SPIR-V: spirv.py KERNEL...

clang 15 compiles for spir64 before any of its passes, llvm-spirv of the same version makes SPIR-V of that, and spirv-dis
its text: on Debian, packages clang-15, llvm-spirv-15 and spirv-tools. tests/spirv.rs compares what the two leave.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CLANG = ["clang-15", "--target=spir64", "-x", "cl", "-Xclang", "-finclude-default-header", "-O2", "-Xclang",
         "-disable-llvm-passes", "-fgnu89-inline", "-cl-kernel-arg-info", "-w", "-D__OPENCL_VERSION__=300"]


def make(name):
    folder = HERE / name
    options = json.loads((folder / "case.json").read_text()).get("options", [])
    standard = [] if any("-std=" in o for o in options) else ["-cl-std=CL3.0"]
    with tempfile.TemporaryDirectory() as made:
        bitcode, binary = f"{made}/kernel.bc", f"{made}/kernel.spv"
        include = ["-I", str(folder), "-I", str(HERE.parent / "builtins")]
        subprocess.run([*CLANG, *standard, *include, *options, "-emit-llvm", "-c", "kernel.cl", "-o", bitcode], cwd=folder, check=True)
        subprocess.run(["llvm-spirv-15", "--spirv-ext=+all", bitcode, "-o", binary], check=True)
        text = subprocess.run(["spirv-dis", binary], check=True, capture_output=True, text=True).stdout
    head, _, rest = text.partition("\n")
    text = f"{head}\n; Made of kernel.cl by test-kernels/spirv.py.\n{rest}"
    # Alignment in columns is half of the text.
    (folder / "kernel.spvasm").write_text("".join(" ".join(line.split()) + "\n" if '"' not in line else line.strip() + "\n"
                                                  for line in text.splitlines()))


for kernel in sys.argv[1:]:
    make(kernel)
