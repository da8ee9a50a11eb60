"""Machines: a description, and memory that stays between launches."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .program import Program


def change(name: str, value: Any) -> str:
    """A change of a field as `--set` has it: `sm.count=4`. In names, `_` stands for `-`."""
    if isinstance(value, (bool, np.bool_)):
        text = "true" if value else "false"
    elif isinstance(value, (list, tuple, dict, str)):
        text = json.dumps(value) if isinstance(value, str) else _inline(value)
    else:
        text = str(value)
    return f"{name.replace('_', '-')}={text}"


def _inline(value: Any) -> str:
    """A value as TOML has it in a line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_inline(v) for v in value) + "]"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    return json.dumps(value)


class Array(np.ndarray):
    """An array in a machine's memory, which stays there between launches.

    It is a numpy array that others may read, without a copy; kernels of its machine get it as it is, parts of it (`a[8:]`)
    included. Writing goes through the array itself (`a[...] = x`, `a += 1`, `np.add(x, y, out=a)`, `a.fill(0)`), because the
    simulated caches must be told; what numpy makes of it otherwise (`a.reshape(…)`, `np.asarray(a)`) is read-only.

    >>> import heddle, numpy as np
    >>> gpu = heddle.Machine()
    >>> a = gpu.array([1, 2, 3], dtype=np.int32)
    >>> a[0] = 5; a += 1
    >>> np.asarray(a)
    array([6, 3, 4], dtype=int32)
    """

    _memory: _native.Memory | None
    _writable: np.ndarray | None

    def __array_finalize__(self, other: Any) -> None:
        # Views know whose memory they are in; copies are of nobody.
        self._memory = None
        self._writable = None

    @property
    def address(self) -> int:
        """The device address of the first byte."""
        root = self._owner()
        return root._memory.address + (self.ctypes.data - root.ctypes.data)

    def _owner(self) -> Array:
        at: Any = self
        while at is not None and getattr(at, "_memory", None) is None:
            at = at.base
        if at is None:
            raise ValueError("this array is not in a machine's memory any more: it is a copy")
        return at

    def _write(self, do: Any) -> Any:
        """Does what writes with a view that can be written, and tells the caches."""
        root = self._owner()
        memory, whole = root._memory, root._writable
        offset = self.ctypes.data - root.ctypes.data
        view = np.ndarray(self.shape, self.dtype, whole.data.cast("B") if whole.nbytes else b"", offset, self.strides)
        try:
            return do(view)
        finally:
            memory.written()

    def __setitem__(self, key: Any, value: Any) -> None:
        def store(view: np.ndarray) -> None:
            view[key] = value

        self._write(store)

    def fill(self, value: Any) -> None:
        """Fills it with a value."""
        self._write(lambda view: view.fill(value))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        plain = [np.asarray(i) if isinstance(i, Array) else i for i in inputs]
        targets = [o for o in (out or ()) if isinstance(o, Array)]
        if method == "at" and isinstance(inputs[0], Array):
            return inputs[0]._write(lambda view: ufunc.at(view, *plain[1:], **keywords))
        if not targets:
            extra = {"out": out} if out is not None else {}
            return getattr(ufunc, method)(*plain, **extra, **keywords)
        if len(out) != 1:
            return NotImplemented
        targets[0]._write(lambda view: getattr(ufunc, method)(*plain, out=(view,), **keywords))
        return targets[0]

    def __reduce__(self) -> Any:
        return np.asarray(self).copy().__reduce__()


class Image:
    """Texels of an image in a machine's memory, as `Machine.image` makes them.

    `array` has them: shape `(height, width, channels)` or what was given. `shape` is the image's, as case files have it.
    """

    def __init__(self, array: npt.NDArray[Any], shape: dict[str, Any]):
        self.array = array
        self.shape = shape
        self._native = _native.Image(array, json.dumps(shape))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype) if copy or dtype is not None else np.asarray(self.array)

    def __repr__(self) -> str:
        return f"heddle.Image({', '.join(f'{k}={v!r}' for k, v in self.shape.items())})"


class Machine:
    """A simulated GPU: its description, its memory and its caches.

    `description` is `"heddle"` for the built-in machine, the path of a TOML file, or the text of one (with a line break in
    it). Keywords change single fields by the names that `heddle target --fields` lists; `sm.count` and others with a dot go
    in `**{"sm.count": 4}`, in others `_` may stand for `-`. Raises `InputError` that names the field and what it may be.

    >>> gpu = heddle.Machine("heddle", warp_size=16, **{"sm.count": 2})
    >>> gpu.fields["sm.count"], gpu.name
    (2, 'heddle')
    >>> heddle.Machine(warp_size=5)
    Traceback (most recent call last):
    heddle.InputError: warp-size=5: warp-size = 5: must be one of 8, 16, 32, 64
    """

    def __init__(self, description: str | os.PathLike[str] = "heddle", **fields: Any):
        text = path = None
        if isinstance(description, str) and "\n" in description:
            text = description
        elif os.fspath(description) != "heddle":
            path = os.fspath(description)
        self._changes = [change(name, value) for name, value in fields.items()]
        self._described = (path, text)
        self._native = _native.Machine(path, text, self._changes)
        #: The mode of launches that do not say one: "timing" (cycles and energy) or "functional" (results only, fast).
        self.mode = "timing"
        #: Record a time line of each launch in timing mode, for the report. It changes no result.
        self.record = True
        self._fields: dict[str, Any] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """All fields by name, as `Machine(**fields)` takes them: `fields["memory.l2.bytes"]`. A copy."""
        if self._fields is None:
            self._fields = dict(_leaves("", json.loads(self._native.json())))
        return dict(self._fields)

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.fields["name"]

    def describe(self) -> str:
        """The whole description as TOML."""
        return self._native.toml()

    def compile(self, source: str | bytes | os.PathLike[str], *options: str, name: str | None = None,
                kernels: Sequence[str] = (), **techniques: Any) -> Program:
        """Compiles OpenCL C, or what the end of the name says: C++ for OpenCL, CUDA, HIP, SPIR-V.

        `source` is the text (of SPIR-V also its bytes), or the path of a file. `kernels` are instances of templates of CUDA and
        HIP that are to be there: `["scale<float>"]`. `options` are clang's, one or several in a string: `"-DN=4"`.
        Keywords are the options of `heddle run` for code generation, with `_` for `-`: `regfile="single"`, `no_rename=True`;
        `rename=False` is the same as `no_rename=True`. `name` is what messages call a text.

        Raises `CompileError` with the compiler's messages, and `InputError` for options that there are not.

        >>> gpu = heddle.Machine()
        >>> gpu.compile("kernel void k(global int *a) { a[0] = b; }")
        Traceback (most recent call last):
        heddle.CompileError: kernel.cl:1:39: error: use of undeclared identifier 'b'
        ...
        """
        text, name = _source(source, name)
        return Program(self, self._native.compile(name, text, list(options), list(kernels), techniques_of(techniques)), name,
                       options, techniques)

    def empty(self, shape: int | Sequence[int], dtype: npt.DTypeLike = np.float32, name: str | None = None) -> Array:
        """An array of zeros in the machine's memory. `name` is what messages about bad accesses call it."""
        dtype = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        count = int(np.prod(shape, dtype=np.int64))
        memory = self._native.allocate(name or "array", count * dtype.itemsize)
        whole = np.asarray(memory)
        array = whole.view(dtype).reshape(shape).view(Array) if count else np.empty(shape, dtype).view(Array)
        array._memory, array._writable = memory, whole
        array.flags.writeable = False
        return array

    zeros = empty

    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str | None = None) -> Array:
        """An array with these values in the machine's memory."""
        values = np.asarray(values, dtype=dtype)
        array = self.empty(values.shape, values.dtype, name)
        array[...] = values
        return array

    def image(self, texels: npt.ArrayLike, format: str, *, width: int | None = None, height: int | None = None,
              depth: int | None = None, layers: int | None = None, name: str | None = None) -> Image:
        """An image with these texels, for kernels' `image2d_t` and the like.

        `format` is as in case files, `"RGBA_UNORM8"` or `"R_FLOAT"`. Without sizes the array's shape says them: the last
        axis is the channels if there are several, the one before it the width, then height and depth. With `layers` the
        first axis is that of an image array.

        >>> import numpy as np
        >>> heddle.Machine().image(np.zeros((4, 8, 4), np.uint8), "RGBA_UNORM8")
        heddle.Image(width=8, height=4, format='RGBA_UNORM8')
        """
        values = np.asarray(texels)
        array = self.array(values, name=name)
        channels = {"R": 1, "RG": 2}.get(format.upper().split("_")[0], 4)
        shape = list(values.shape[:-1] if channels > 1 else values.shape)
        sizes: dict[str, Any] = {"width": width or (shape.pop() if shape else 1)}
        for key, given in (("height", height), ("depth", depth)):
            left = len(shape) > (1 if layers else 0)
            size = given or (shape.pop() if left and width is None else None)
            if size is not None:
                sizes[key] = size
        if layers:
            sizes["layers"] = layers
        return Image(array, {k: int(v) for k, v in sizes.items()} | {"format": format})

    def flush_caches(self) -> None:
        """Empties all caches, so that the next launch begins as a machine's first one."""
        self._native.flush_caches()

    @property
    def free_bytes(self) -> int:
        """Bytes of the machine's memory that can still be allocated."""
        return self._native.available()

    def __reduce__(self) -> Any:
        return _machine, (*self._described, self._changes)

    def __repr__(self) -> str:
        f = self.fields
        return f"<heddle.Machine {f['name']}: {f['sm.count']} SMs, warps of {f['warp-size']} lanes>"


def _machine(path: str | None, text: str | None, changes: list[str]) -> Machine:
    """A machine again, from what it was made of."""
    machine = Machine(text or path or "heddle")
    machine._native = _native.Machine(path, text, changes)
    machine._changes = changes
    return machine


def _leaves(prefix: str, value: Any):
    """The fields of a description with their dotted names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{prefix}.{key}" if prefix else key, inner)
    elif isinstance(value, list) and any(isinstance(v, dict) for v in value):
        for i, inner in enumerate(value):
            yield from _leaves(f"{prefix}.{i}", inner)
    else:
        yield prefix, value


def techniques_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords as the settings of `heddle run`'s options: `rename=False` is `no-rename = true`."""
    known = _options()
    settings: dict[str, Any] = {}
    for key, value in keywords.items():
        name = key.replace("_", "-")
        if name not in known and isinstance(value, (bool, np.bool_)) and f"no-{name}" in known:
            name, value = f"no-{name}", not value
        if name not in known:
            raise _native.InputError(f"there is no option `{key}`; there are: {', '.join(sorted(known))}")
        settings[name] = bool(value) if isinstance(value, np.bool_) else value
    return settings


def _options() -> set[str]:
    global _known
    if _known is None:
        _known = set(_native.option_names())
    return _known


_known: set[str] | None = None


#: How names of files end that are sources.
_SOURCES = (".cl", ".clcpp", ".cu", ".hip", ".spv", ".spvasm", ".h")


def _source(source: str | bytes | os.PathLike[str], name: str | None) -> tuple[bytes, str]:
    """Bytes and name of a source that is given as text, as bytes or as a path."""
    if isinstance(source, bytes):
        return source, name or ("kernel.spv" if source[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03") else "kernel.cl")
    path = os.fspath(source)
    if isinstance(source, os.PathLike) or (path.endswith(_SOURCES) and "\n" not in path and "{" not in path):
        with open(path, "rb") as file:
            return file.read(), name or path
    return path.encode(), name or "kernel.cl"
