"""What a kernel's generate.py describes its case with, and how cases are written and checked.

A folder's generate.py has a docstring (the idiom covered), `AFTER` where it follows an algorithm of a public suite, and

    def make(r):
        ...
        return {NAME: buffer, ...}, [launch, ...], [option of the compiler, ...]

with `r` a random generator seeded by the folder's name (or by `SEED`). A buffer is its entry of case.json with arrays where the file
has names of .npy files: the array under "npy" goes into NAME.npy, the one under "expect" into NAME.expect.npy.
"""

import base64
import json
import struct

import numpy as np

from bounds import U32, E, up


def inp(array):
    """A buffer that no launch changes; that too is checked."""
    array = np.ascontiguousarray(array)
    return {"npy": array, "expect": array}


def out(expect, init=None, atol=0.0, rtol=0.0):
    """A buffer with a golden; zeros at first unless `init` is given. An E brings its tolerance, all else is exact unless told."""
    if isinstance(expect, E):
        last = expect.u * np.abs(expect.v)  # the golden's own rounding, and for float64 its own evaluation
        atol = up(float((expect.e + last).max()) * (1 if expect.u == U32 else 2))
        expect = expect.v.astype(np.float32 if expect.u == U32 else np.float64)
    expect = np.ascontiguousarray(expect)
    if init is None:
        entry = {"zeros": list(expect.shape), "dtype": expect.dtype.name}
    else:
        init = np.ascontiguousarray(init, expect.dtype)
        assert init.shape == expect.shape
        entry = {"npy": init}
    return {**entry, "expect": expect, "rtol": float(f"{rtol:.2g}"), "atol": float(f"{atol:.2g}")}


def given(init, expect=None, rtol=0, atol=0):
    """A buffer with its first contents in a file, compared only if there is a golden."""
    return {"npy": init} if expect is None else {"npy": init, "expect": expect, "rtol": rtol, "atol": atol}


def tmp(dtype, *shape):
    """A buffer between launches, zeros at first and not compared."""
    return {"zeros": list(shape), "dtype": np.dtype(dtype).name}


def launch(kernel, size, local, *args, repeat=1, offset=None, partial=False):
    """A launch; an argument that is a string names a buffer. `partial` allows last work-groups that are smaller."""
    assert len(size) == len(local) and (partial or all(g % l == 0 for g, l in zip(size, local))), (kernel, size, local)
    entry = {"kernel": kernel, "global": list(size), "local": list(local)}
    if offset is not None:
        entry["offset"] = list(offset)
    if repeat != 1:
        entry["repeat"] = repeat
    return {**entry, "args": [{"buffer": a} if isinstance(a, str) else a for a in args]}


def I(v):
    return {"i32": int(v)}


def UI(v):
    return {"u32": int(v)}


def F(v):
    return {"f32": v}


def D(v):
    return {"f64": v}


def L(size):
    return {"local": int(size)}


def nearest(v):
    """A float argument: the nearest float32, so that the golden and the kernel see the same number."""
    return F(float(np.float32(v)))


def data(form, *values):
    """A structure by value."""
    return {"bytes": base64.b64encode(struct.pack("<" + form, *values)).decode()}


def f32(r, *shape, low=-1.0, high=1.0):
    return r.uniform(low, high, shape).astype(np.float32)


def ceil(n, m):
    """`n` rounded up to a multiple of `m`."""
    return (n + m - 1) // m * m


def files(buffers, launches, options=(), source="kernel.cl"):
    """The files of a case: name -> array, or JSON value."""
    arrays, entries = {}, {}
    for name, spec in buffers.items():
        entries[name] = entry = dict(spec)
        for key, file in (("npy", f"{name}.npy"), ("expect", f"{name}.expect.npy")):
            array = spec.get(key)
            if isinstance(array, np.ndarray):
                entry[key] = f"{name}.npy" if key == "expect" and array is spec.get("npy") else file
                arrays[entry[key]] = np.ascontiguousarray(array)
    return {"case.json": {"source": source, "options": list(options), "buffers": entries, "launches": list(launches)}, **arrays}


def text(case):
    """A case file with one buffer and one launch a line."""
    lines = lambda items: ",\n".join(f"    {item}" for item in items)
    options = f'  "options": {json.dumps(case["options"])},\n' if case["options"] else ""
    buffers = lines(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in case["buffers"].items())
    launches = lines(map(json.dumps, case["launches"]))
    source = json.dumps(case["source"])
    return f'{{\n  "source": {source},\n{options}  "buffers": {{\n{buffers}\n  }},\n  "launches": [\n{launches}\n  ]\n}}\n'


def same_case(path, case):
    """Whether a case file says this, in whatever layout. The order of buffers counts: it gives them their addresses."""
    old = json.loads(path.read_text())
    return {"options": [], **old} == case and list(old["buffers"]) == list(case["buffers"])


def same_array(path, array):
    """Whether a file holds this array: integers to the bit; floats within four units in the last place of the largest, since numpy's
    products and exponentials differ in last bits from one processor and version to another."""
    old = np.load(path)
    if old.dtype != array.dtype or old.shape != array.shape:
        return False
    if old.tobytes() == array.tobytes():
        return True
    if old.dtype.kind != "f":
        return False
    a, b = old.astype(np.float64), array.astype(np.float64)
    if not np.array_equal(np.where(np.isfinite(a), 0, a), np.where(np.isfinite(b), 0, b), equal_nan=True):
        return False
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    return bool((np.abs(a - b) <= 4 * np.finfo(old.dtype).eps * np.abs(a).max(initial=0)).all())


def settle(folder, made, check=False):
    """Writes the files that are not there or differ, or with `check` only says which they are. What agrees keeps its bytes."""
    differing = []
    for name, value in made.items():
        path, array = folder / name, isinstance(value, np.ndarray)
        if path.is_file() and (same_array if array else same_case)(path, value):
            continue
        differing.append(path)
        if check:
            continue
        if array:
            np.save(path, value, allow_pickle=False)
        else:
            path.write_text(text(value))
    return differing
