"""Programs and their kernels, which are called like functions."""

from __future__ import annotations

import json
import sys
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from .results import Run
from .text import Code, cache_hint_rows, control_flow, frame, surface_rows, uniformity_rows

if TYPE_CHECKING:
    from .machine import Machine

local = _native.Local
local.__doc__ = "Work-group memory for a `__local` pointer: `local(bytes)`."


def sampler(normalized: bool = False, address: str = "clamp-to-edge", filter: str = "nearest") -> _native.Sampler:
    """A sampler for kernels' `sampler_t`.

    `address` is `none`, `clamp-to-edge`, `clamp`, `repeat` or `mirrored-repeat`, `filter` `nearest` or `linear`.

    >>> import heddle
    >>> heddle.sampler(filter="cubic")
    Traceback (most recent call last):
    heddle.InputError: sampler: unknown variant `cubic`, expected `nearest` or `linear`
    """
    return _native.Sampler(json.dumps({"normalized": normalized, "address": address, "filter": filter}))


class Parameter(NamedTuple):
    """A parameter of a kernel."""

    #: Its name in the source.
    name: str
    #: Its type as written: `float*`.
    type: str
    #: `global`, `constant` or `local` (pointers), `value`, `image` or `sampler`.
    kind: str
    #: Bytes that it has among the arguments.
    size: int
    #: The kernel only reads what it points to.
    read_only: bool


class Program(Mapping[str, "Kernel"]):
    """A compiled program: a mapping from its kernels' names to the kernels.

    `log` is the build log (warnings). Made by `Machine.compile`.
    """

    def __init__(self, machine: Machine, native: _native.Program, name: str, options: Sequence[str], techniques: Mapping[str, Any]):
        self.machine = machine
        self.name = name
        self._native = native
        self._options = (tuple(options), dict(techniques))
        self._headers = {h["name"]: h for h in json.loads(native.kernels())}
        # Kernels keep their program, so this keeps none of them: what nobody has is freed at once.
        self._kernels: weakref.WeakValueDictionary[str, Kernel] = weakref.WeakValueDictionary()
        self._texts: dict[str, str] = {}

    @property
    def log(self) -> str:
        """What the compiler had to say."""
        return self._native.log

    @property
    def object(self) -> bytes:
        """The ELF object, as `heddle build` writes it."""
        return self._native.object()

    def __getitem__(self, name: str) -> Kernel:
        kernel = self._kernels.get(name)
        if kernel is not None:
            return kernel
        header = self._headers.get(name)
        if header is None:
            # A KeyError prints its message in quotes, without its lines.
            raise _native.InputError(f"no kernel `{name}`; the program has: {', '.join(self._headers)}")
        return self._kernels.setdefault(name, Kernel(self, header))

    def __contains__(self, name: object) -> bool:
        return name in self._headers

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def text(self, form: str) -> str:
        """The whole program as `ir`, `annotated-ir`, `mir` or `asm`."""
        if form not in self._texts:
            self._texts[form] = self._native.text(form)
        return self._texts[form]

    def analysis(self, name: str) -> str:
        """What an analysis of `heddle opt` prints: `uniformity`, `surfaces`, `global-id`, `cache-hints`."""
        key = f"print<{name}>"
        if key not in self._texts:
            self._texts[key] = self._native.analyse(key)
        return self._texts[key]

    def __repr__(self) -> str:
        return f"<heddle.Program {self.name}: {', '.join(self._headers)}>"


class Launcher:
    """A kernel with sizes: calling it runs the kernel. Made by `kernel[…]`."""

    __slots__ = ("_kernel", "_sizes")

    def __init__(self, kernel: Kernel, sizes: tuple[list[int], list[int] | None, list[int] | None]):
        self._kernel = kernel
        self._sizes = sizes

    def __call__(self, *args: Any, mode: str | None = None, check: str | Sequence[str] | None = None, repeat: int = 1,
                 offset: int | Sequence[int] | None = None, record: bool | None = None, **options: Any) -> Run:
        """Runs the kernel to its end.

        `args` are the kernel's arguments in order: numpy arrays for pointers (contiguous, of the kernel's element type; they
        are changed in place) or arrays of the machine, `None` for a null pointer, numbers, tuples for vectors, numpy records
        (or bytes) for structures, `heddle.local(bytes)`, `machine.image(…)`, `heddle.sampler(…)`.

        - `mode`: "timing" or "functional"; without it the machine's.
        - `check`: what to check, as `heddle run --check`: "races", "uninitialised", "barriers", "marks", "renames", "all", or a
          list. The launch then runs beside the machine's state, on copies.
        - `repeat`: how often. `offset`: of the global ids. `record`: a time line for the report (timing mode).
        - `max_instructions`, `threads`, `scalar_threshold`, `jit`, `printf_buffer`: as of `heddle run`.

        Raises `LaunchError` if the arguments do not fit, `FaultError` for what the kernel does wrong, KeyboardInterrupt for
        Ctrl-C. What the kernel prints goes to `sys.stdout` and is in the result's `printed`.
        """
        kernel = self._kernel
        machine = kernel.program.machine
        sizes = self._sizes
        if offset is not None:
            sizes = (sizes[0], sizes[1], _size(offset))
        checks = None
        if check is not None:
            checks = [check] if isinstance(check, str) else list(check)
            if mode is None:
                mode = machine.mode if set(checks) <= {"marks", "renames", "strands"} else "functional"
        run = Run(
            kernel._native.launch(sizes, repeat, args, mode or machine.mode, checks, machine.record if record is None else record,
                                  options or None),
            (kernel.name, sizes),
        )
        if run._native.has_printed:
            shown(run, options)
        return run


def shown(run: Run, options: Mapping[str, Any]) -> None:
    """Shows what kernels printed, and warns if it was not all."""
    sys.stdout.write(run.printed)
    if lost := run._native.dropped(options.get("printf_buffer", _native.PRINTF_BUFFER)):
        warnings.warn(lost.replace("--printf-buffer", "printf_buffer=…"), RuntimeWarning, stacklevel=3)


def _size(size: int | Sequence[int]) -> list[int]:
    """A size in one to three dimensions."""
    if type(size) is int:
        return [size]
    if hasattr(size, "__index__"):
        return [size.__index__()]
    return [n.__index__() for n in size]


class Kernel:
    """A kernel. `kernel[global, local](…)` runs it; see `Launcher.__call__`.

    Sizes are numbers or tuples of up to three, the first dimension first: `k[4096, 64]`, `k[(64, 32), (8, 8)]`; `k[4096]`
    lets Heddle choose the work-group's size, and `k[global, local, offset]` gives global ids an offset.
    """

    def __init__(self, program: Program, header: dict[str, Any]):
        self.program = program
        self.header = header
        self.name: str = header["name"]
        #: The parameters.
        self.parameters = [
            Parameter(a["name"], a["type_name"], a["kind"], a["size"], a.get("read_only", False))
            for a in header["args"]
            if a["kind"] != "printf-buffer"
        ]
        self._native = _native.Kernel(program._native, self.name)

    def __getitem__(self, sizes: Any) -> Launcher:
        if type(sizes) is not tuple:
            return Launcher(self, (_size(sizes), None, None))
        if not 1 <= len(sizes) <= 3:
            raise _native.LaunchError(f"kernel `{self.name}`: give [global], [global, local] or [global, local, offset]")
        total, group, offset = (*sizes, None, None)[:3]
        return Launcher(self, (_size(total), None if group is None else _size(group), None if offset is None else _size(offset)))

    def __call__(self, *args: Any, **keywords: Any) -> Run:
        raise TypeError(f"kernel `{self.name}` needs sizes: {self.name}[global, local](…)")

    # --- what the compiler made of it ---

    def _part(self, form: str) -> str:
        """This kernel's part of a text of the program."""
        from .text import kernel_part

        return kernel_part(self.program.text(form), form, self.name)

    @property
    def ir(self) -> Code:
        """LLVM IR as instruction selection sees it. In a notebook with colours, as the others."""
        return Code(self._part("ir"), "llvm")

    @property
    def mir(self) -> Code:
        """Machine IR after register allocation."""
        return Code(self._part("mir"), "mir")

    @property
    def asm(self) -> Code:
        """Assembly."""
        return Code(self._part("asm"), "asm")

    @property
    def uniformity(self):
        """What is not the same for all work-items of a warp (S3): a frame of block, class, reason and instruction."""
        return frame(uniformity_rows(self.program.analysis("uniformity"), self.name))

    @property
    def surfaces(self):
        """What the kernel does with each pointer argument (G1 to G4): a frame of argument, kind, accesses and types."""
        return frame(surface_rows(self.program.analysis("surfaces"), self.name))

    @property
    def cache_hints(self):
        """The cache policy of each access (K7): a frame of argument, access, policy, reason and line."""
        return frame(cache_hint_rows(self.program.analysis("cache-hints"), self.name))

    @property
    def control_flow(self):
        """The kernel's blocks with their branches as SVG: `.svg` is the text, and a notebook shows it."""
        return control_flow(self._part("mir"), self.name)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.type} {p.name}".strip() for p in self.parameters)
        return f"<heddle.Kernel {self.name}({parameters})>"
