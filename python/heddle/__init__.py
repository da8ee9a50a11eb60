"""Heddle: kernels in OpenCL C as functions over numpy arrays, on a simulator of a GPU that you describe.

>>> import heddle, numpy as np
>>> gpu = heddle.Machine("heddle", **{"sm.count": 4})
>>> scale = gpu.compile("kernel void scale(global float *a, float f) { a[get_global_id(0)] *= f; }")["scale"]
>>> a = np.arange(4096, dtype=np.float32)
>>> run = scale[4096, 64](a, np.float32(2.5))
>>> a[:3]
array([0. , 2.5, 5. ], dtype=float32)
>>> run.cycles > 0 and run["timing.hierarchy.l2.misses"] > 0
True

- `Machine`: a machine with its memory; `Program`, `Kernel`: what is compiled for it; `Run`: what a launch did.
- `run`: a case file, as `heddle run` does. `compare`, `ablate`: two runs; each technique off in turn.
- `sweep`: many points of machines, options and cases; `plot`: pictures of them.
- `local`, `sampler`: arguments that are no arrays.

Exceptions are subclasses of `Error`: `InputError`, `CompileError`, `LaunchError`, `FaultError`, `CheckError`,
`Interrupted`.
"""

from __future__ import annotations

import warnings as _warnings

from . import _errors

try:
    from . import _native
except ImportError as _error:  # pragma: no cover - depends on the machine
    raise _errors.without_llvm(_error) from None

from ._native import (
    CheckError,
    CompileError,
    Error,
    FaultError,
    InputError,
    Interrupted,
    LaunchError,
    __version__,
)
from .cases import Comparison, Table, ablate, compare, run
from .exploration import Point, Sweep, sweep
from .machine import Array, Image, Machine
from .program import Kernel, Program, local, sampler
from .results import Run

_missing = _errors.check_clang(str(_native.clang_path()))
if _missing:  # pragma: no cover - depends on the machine
    _warnings.warn(_missing, RuntimeWarning, stacklevel=2)

__all__ = [
    "Array",
    "CheckError",
    "Comparison",
    "CompileError",
    "Error",
    "FaultError",
    "Image",
    "InputError",
    "Interrupted",
    "Kernel",
    "LaunchError",
    "Machine",
    "Point",
    "Program",
    "Run",
    "Sweep",
    "Table",
    "__version__",
    "ablate",
    "compare",
    "local",
    "plot",
    "run",
    "sampler",
    "sweep",
]


def __getattr__(name: str):
    # matplotlib is loaded by whoever plots.
    if name == "plot":
        import importlib

        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module 'heddle' has no attribute {name!r}")
