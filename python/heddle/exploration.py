"""Sweeps: many points of machines, options and cases, with a journal that a killed run goes on from."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from . import _native
from .machine import _inline

_FILE = "sweep.toml"


class Point:
    """A point of a sweep: calling it runs it and returns its line of the journal.

    It is a picklable task for joblib, Dask and the like: `Sweep.finish(joblib.Parallel(4)(joblib.delayed(p)() for p in
    sweep.missing()))`. Whoever runs it must see the sweep's folder and the cases, as for Slurm.
    """

    __slots__ = ("file", "number")

    def __init__(self, file: str, number: int):
        self.file = file
        self.number = number

    def __call__(self) -> str:
        return _plan(self.file, os.stat(self.file).st_mtime_ns).run(self.number)

    def __repr__(self) -> str:
        return f"<heddle.Point {self.number} of {self.file}>"


@lru_cache(maxsize=4)
def _plan(file: str, changed: int) -> _native.Plan:
    """The plan of a sweep's file, read once a process."""
    return _native.Plan(Path(file))


class Sweep:
    """A sweep: a plan in a folder, with its journal and its results. `heddle.sweep` makes and runs one.

    The folder has `sweep.toml`, which `heddle sweep` takes as well, `journal.jsonl`, and after `results()` the result files.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder).absolute()
        self.file = self.folder / _FILE
        self.plan = _plan(str(self.file), os.stat(self.file).st_mtime_ns)

    def __len__(self) -> int:
        return len(self.plan)

    @contextlib.contextmanager
    def _journal(self) -> Iterator[_native.Journal]:
        journal = _native.Journal(self.plan, self.folder / "journal.jsonl")
        try:
            yield journal
        finally:
            journal.close()

    def missing(self) -> list[Point]:
        """The points that have not run."""
        with self._journal() as journal:
            return [Point(str(self.file), n) for n in journal.missing()]

    def finish(self, lines: Sequence[str]) -> None:
        """Adds points that were run elsewhere to the journal."""
        with self._journal() as journal:
            for line in lines:
                journal.append(line)

    def run(self, threads: int = 0, progress: bool = True) -> None:
        """Runs what is missing, on `threads` threads (0: as many as there are cores), with a bar if tqdm is installed.

        A point that fails is a result with its error. Ctrl-C ends it; what is finished stays in the journal.
        """
        with self._journal() as journal:
            missing = journal.missing()
            bar = _bar(len(missing), len(self) - len(missing)) if progress and missing else None
            workers = threads or os.cpu_count() or 1
            pool = ThreadPoolExecutor(workers)
            try:
                # A few more than run, so that Ctrl-C need not wait for many.
                waiting = iter(missing)
                running = {pool.submit(self.plan.run, n): n for n in islice(waiting, 2 * workers)}
                while running:
                    done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                    for future in done:
                        number = running.pop(future)
                        status, error = journal.append(future.result())
                        if bar is not None:
                            bar.update()
                            if status != "passed":
                                first = (error or "").splitlines()[:1]
                                bar.write(f"point {number} ({self.plan.describe(number)}): {status}: {''.join(first)}")
                        following = next(waiting, None)
                        if following is not None:
                            running[pool.submit(self.plan.run, following)] = following
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
                if bar is not None:
                    bar.close()

    def results(self):
        """Writes the result files and returns the points that have run as a pandas frame, a row each.

        The columns are those of `heddle sweep`: `point`, `id`, `case`, the axes, `status`, `error`, the headlines, then all
        statistics. It is read from `results.parquet` if pyarrow is installed, else from `results.jsonl`.
        """
        import pandas

        with self._journal() as journal:
            paths = {Path(p).suffix: p for p in journal.write_results(self.folder)}
        try:
            import pyarrow  # noqa: F401

            frame = pandas.read_parquet(paths[".parquet"])
        except ImportError:
            frame = pandas.DataFrame([json.loads(line) for line in Path(paths[".jsonl"]).read_text("utf-8").splitlines()])
        frame.attrs["minimise"], frame.attrs["maximise"] = self.plan.objectives()
        return frame

    def summary(self) -> str:
        """The Pareto front over all cases, as `heddle sweep` prints it."""
        with self._journal() as journal:
            return journal.summary()

    def overview(self) -> str:
        """What it runs."""
        return self.plan.overview()

    def __repr__(self) -> str:
        return f"<heddle.Sweep {self.folder}: {len(self)} points>"


def _bar(total: int, before: int):
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    try:
        # The bar of notebooks needs widgets, and warns where there are none.
        import ipywidgets  # noqa: F401
        from tqdm.auto import tqdm
    except ImportError:
        pass
    return tqdm(total=total + before, initial=before, unit="point", mininterval=0.5)


def _text(cases: Sequence[str], mode: str, machine: str | None, fields: Mapping[str, Any], options: Mapping[str, Any],
          axes: Mapping[str, Any], lists: Mapping[str, Any], sample: int | None, seed: int | None,
          exclude: Sequence[Mapping[str, Any]]) -> str:
    """A SWEEP.toml."""

    def key(name: str) -> str:
        # Dotted names are paths, but for stars.
        name = name.replace("_", "-")
        return json.dumps(name) if "*" in name else name

    lines = [f"cases = {_inline(list(cases))}", f"mode = {_inline(mode)}"]
    lines += [f"{name} = {_inline(list(values))}" for name, values in lists.items() if values]
    lines += [f"{name} = {n}" for name, n in (("sample", sample), ("seed", seed)) if n is not None]
    if machine or fields:
        lines += ["[machine]", *([f"base = {_inline(machine)}"] if machine else [])]
        lines += [f"set.{key(name)} = {_inline(value)}" for name, value in fields.items()]
    if options:
        lines += ["[options]", *(f"{key(name)} = {_inline(value)}" for name, value in options.items())]
    if axes:
        lines += ["[axes]", *(f"{key(name)} = {_axis(values)}" for name, values in axes.items())]
    for left_out in exclude:
        lines += ["[[exclude]]", *(f"{key(name)} = {_inline(value)}" for name, value in left_out.items())]
    return "\n".join(lines) + "\n"


def _axis(values: Any) -> str:
    if isinstance(values, range):
        values = list(values)
    return _inline(values if isinstance(values, (list, tuple, Mapping)) else list(values))


def sweep(cases: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], axes: Mapping[str, Any] | None = None, *,
          minimise: Sequence[str] = (), maximise: Sequence[str] = (), machine: str | os.PathLike[str] | None = None,
          fields: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None, mode: str = "timing",
          sample: int | None = None, seed: int | None = None, exclude: Sequence[Mapping[str, Any]] = (),
          folder: str | os.PathLike[str] | None = None, threads: int = 0, progress: bool = True, run: bool = True):
    """Runs cases on many machines and with many options; returns a pandas frame with a row a point.

    - `cases`: case files, or patterns. `axes`: fields of the machine and options of `heddle run`, each with its values (a
      list, a range, or what SWEEP.toml has: `{"powers-of-two": [8192, 65536]}`); all combinations are points.
    - `minimise`, `maximise`: what the Pareto front is of: columns of the results (`"cycles"`, `"energy_pj"`) or axes.
    - `machine`: a description's TOML file; `fields`, `options`: of all points. `exclude`: combinations that are left out.
      `sample`: so many configurations at random (`seed`).
    - `folder`: for the journal and the results; a sweep with a folder goes on where it was when it is called again, and
      points that have not changed do not run again. Without one they are temporary.
    - `run=False` returns the `Sweep`, whose points can be run elsewhere.

    A point that fails is a row with its `status` and `error`. Raises `InputError` for what makes no sense, before anything
    runs.
    """
    given = [cases] if isinstance(cases, (str, os.PathLike)) else list(cases)
    paths = [os.path.abspath(os.fspath(c)) for c in given]
    base = os.path.abspath(os.fspath(machine)) if machine is not None and os.fspath(machine) != "heddle" else None
    lists = {"minimise": list(minimise), "maximise": list(maximise)}
    text = _text(paths, mode, base, fields or {}, options or {}, axes or {}, lists, sample, seed, exclude)
    with contextlib.ExitStack() as stack:
        if folder is None:
            if not run:
                raise _native.InputError("a sweep that is run elsewhere needs a folder")
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heddle-"))
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        file = place / _FILE
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
        planned = Sweep(place)
        if not run:
            return planned
        planned.run(threads, progress)
        return planned.results()
