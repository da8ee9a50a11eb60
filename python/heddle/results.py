"""What a run did: statistics by name, frames, the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from . import _native


class Run:
    """What a launch, or a case file, did.

    `run["timing.hierarchy.l2.misses"]` is a statistic by its name in `heddle run --json`, without `total.` in front;
    iterating gives all names. In a notebook a run is its report.

    >>> import heddle, numpy as np
    >>> one = heddle.Machine().compile("kernel void one(global int *a) { a[get_global_id(0)] = 1; }")["one"]
    >>> run = one[64](np.zeros(64, np.int32))
    >>> run["work_items"], run.mode
    (64, 'timing')
    >>> run["timing.cycle"]
    Traceback (most recent call last):
    KeyError: 'no statistic `timing.cycle`; is `timing.cycles` meant?'
    """

    __slots__ = ("_call", "_native", "_metrics")

    def __init__(self, native: _native.Run, call: tuple[Any, ...] = ()):
        self._native = native
        self._call = call
        self._metrics: dict[str, Any] | None = None

    @property
    def cycles(self) -> int | None:
        """Cycles; None in functional mode."""
        return self._native.cycles

    @property
    def energy_pj(self) -> float | None:
        """Energy of all components in picojoules."""
        return self._native.energy_pj

    @property
    def seconds(self) -> float:
        """Host seconds that the simulation took."""
        return self._native.seconds

    @property
    def mode(self) -> str:
        """`timing` or `functional`."""
        return self._native.mode

    @property
    def printed(self) -> str:
        """What kernels printed."""
        return self._native.printed

    @property
    def metrics(self) -> dict[str, Any]:
        """All statistics by name, with the headlines of sweeps (`cycles`, `energy_pj`, `dram_bytes`, …)."""
        if self._metrics is None:
            self._metrics = json.loads(self._native.metrics())
        return self._metrics

    def __getitem__(self, name: str) -> Any:
        metrics = self.metrics
        if name in metrics:
            return metrics[name]
        part = {k[len(name) + 1 :]: v for k, v in metrics.items() if k.startswith(name + ".")}
        if part:
            return part
        import difflib

        near = difflib.get_close_matches(name, metrics, 1)
        raise KeyError(f"no statistic `{name}`" + (f"; is `{near[0]}` meant?" if near else ""))

    def __contains__(self, name: object) -> bool:
        return name in self.metrics

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def keys(self):
        """Names of all statistics."""
        return self.metrics.keys()

    def statistics(self) -> dict[str, Any]:
        """What `heddle run --json` writes, as dictionaries."""
        return json.loads(self._native.json())

    def frame(self):
        """A pandas frame: a row a launch, a column a statistic."""
        import pandas

        launches = self._native.launches()
        frame = pandas.DataFrame([json.loads(metrics) for _, metrics in launches])
        frame.insert(0, "kernel", [kernel for kernel, _ in launches])
        return frame

    def summary(self) -> str:
        """What `heddle run` prints."""
        return self._native.summary()

    def report(self, path: str | None = None) -> str:
        """The report as one HTML page that needs no network; writes it to a file if one is named."""
        page = self._native.page(self._command())
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _command(self) -> str:
        """The call, for the report's head."""
        name, (total, group, offset) = self._call
        sizes = [tuple(s) if len(s) > 1 else s[0] for s in (total, group) if s is not None]
        keywords = f", offset={offset}" if offset is not None else ""
        return f"{name}[{', '.join(map(str, sizes))}](…{keywords}), called from Python"

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.report(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="Heddle: report" '
            'style="width:100%;height:38em;border:1px solid #8885;border-radius:4px"></iframe>'
        )

    def __repr__(self) -> str:
        cycles = f", {self.cycles} cycles, {self.energy_pj / 1e6:.3f} µJ" if self.cycles is not None else ""
        return f"<heddle.Run {self['instructions']} warp instructions{cycles}>"


class CaseRun(Run):
    """What a case file did. `buffers` has the arrays after the last launch, `passed` whether they are as expected."""

    __slots__ = ("_buffers",)

    def __init__(self, native: _native.Run, call: tuple[Any, ...] = ()):
        super().__init__(native, call)
        self._buffers: dict[str, Any] | None = None

    def _command(self) -> str:
        return f'heddle.run("{self._call[0]}"), called from Python'

    @property
    def buffers(self) -> dict[str, Any]:
        """Arrays by name."""
        if self._buffers is None:
            import numpy

            arrays = self._native.buffers()
            self._buffers = {n: numpy.frombuffer(d, dtype=t).reshape(s).copy() for n, t, s, d in arrays}
        return self._buffers

    @property
    def passed(self) -> bool:
        """Whether all buffers are as the case expects."""
        return not self._native.mismatches()

    @property
    def mismatches(self) -> dict[str, str]:
        """Buffers that are not, and how they differ."""
        return dict(self._native.mismatches())
