"""Case files, comparisons and ablations, as the command line has them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _native
from .machine import Machine, techniques_of
from .program import shown
from .results import CaseRun, Run

_SIMULATION = {"threads", "max_instructions", "scalar_threshold", "printf_buffer", "jit"}


def run(case: str | os.PathLike[str], machine: Machine | None = None, *, mode: str | None = None,
        check: str | Sequence[str] = (), record: bool = True, **options: Any) -> CaseRun:
    """Runs a case file as `heddle run` does, on a machine of its own with the description of `machine`.

    `mode` is "timing" (default, unless `check` asks for something of functional mode) or "functional"; other keywords are
    the options of `heddle run`, with `_` for `-`. Buffers that are not as expected are no exception: see `passed`.
    """
    checks = [check] if isinstance(check, str) else list(check)
    simulation = {k: options.pop(k) for k in list(options) if k in _SIMULATION}
    native = (machine or Machine())._native
    done = CaseRun(_native.run_case(Path(case), native, mode, checks, record, techniques_of(options), simulation), (case,))
    if done._native.has_printed:
        shown(done, simulation)
    return done


class Table:
    """A text that the command line prints, with its data and its page: what `compare` and `ablate` return."""

    def __init__(self, parts: tuple[str, str, str]):
        self.data: dict[str, Any] = json.loads(parts[0])
        self.text: str = parts[1]
        self.html: str = parts[2]

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:34em;border:0"></iframe>'

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class Comparison(Table):
    """Two runs counter by counter."""

    def frame(self):
        """A pandas frame: a row a counter, with both values, their ratio and the geometric mean over the parts."""
        import pandas

        return pandas.DataFrame(self.data["rows"]).set_index("name")


class Ablation(Table):
    """Cases with all techniques on, each one off, and all off."""

    def frame(self):
        """A pandas frame: a row for each case and setup, with values (`cycles`), ratios to all on (`cycles/all on`) and,
        of repeated runs, half of the ratios' 95 % intervals (`cycles/all on ±`)."""
        import pandas

        rows = []
        for case in self.data["cases"]:
            for row in case["rows"]:
                ratios = {f"{k}/all on": v for k, v in row["ratios"].items()}
                ratios |= {f"{k}/all on ±": v for k, v in row.get("intervals", {}).items()}
                rows.append({"case": case["case"], "setup": row["setup"], "status": row["status"], **row["values"], **ratios})
        return pandas.DataFrame(rows)


def compare(a: Run | str | os.PathLike[str], b: Run | str | os.PathLike[str], all: bool = False) -> Comparison:
    """Compares two runs: `Run` objects, or files of statistics or sweeps' results. `all`: every counter, not only those
    that one looks at first.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, run in (("A", a), ("B", b)):
            path = Path(folder, f"{name}.json") if isinstance(run, Run) else Path(run)
            if isinstance(run, Run):
                path.write_text(run._native.json(), encoding="utf-8")
            paths.append(path)
        return Comparison(_native.compare(*paths, all))


def ablate(cases: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], machine: Machine | None = None,
           threads: int = 0, runs: int = 1) -> Ablation:
    """Runs cases with all techniques on, each one off in turn, and all off, in timing mode; raises `CheckError` if results
    differ. `threads`: runs at the same time (0: as many as there are cores). `runs`: of each, with random delays if more
    than one; then values are means, and ratios have half of their 95 % interval.
    """
    paths = [cases] if isinstance(cases, (str, os.PathLike)) else list(cases)
    return Ablation(_native.ablate([Path(p) for p in paths], (machine or Machine())._native, runs, threads))
