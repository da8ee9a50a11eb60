"""Pictures of frames, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def front(frame: Any, x: str, y: str, maximise: Sequence[str] = ()) -> Any:
    """The rows that no other row beats in both columns, in order of `x`. Both are made small but for those in `maximise`.

    >>> import heddle, pandas
    >>> frame = pandas.DataFrame({"cycles": [3, 1, 2, 2], "energy_pj": [1.0, 9.0, 4.0, 5.0]})
    >>> list(heddle.plot.front(frame, "cycles", "energy_pj").index)
    [1, 2, 0]
    """
    points = frame[[x, y]].astype(float).dropna()
    signed = points.assign(**{c: -points[c] for c in (x, y) if c in maximise})
    best, least = [], float("inf")
    for index, row in signed.sort_values([x, y], kind="stable").iterrows():
        if row[y] < least:
            best.append(index)
            least = row[y]
    return frame.loc[best]


def pareto(frame: Any, x: str = "cycles", y: str = "energy_pj", *, colour: str | None = None, label: str | Sequence[str] | None = None,
           maximise: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Two columns of a sweep's frame against each other, with the front of the rows that no other one beats.

    `colour`: a column whose values the points' colours show. `label`: columns whose values stand at the points of the front.
    `maximise`: columns whose large values are better; without it those of the sweep. Several cases are summed up by the
    geometric means over them, as `heddle sweep` does. Returns the axes.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    if maximise is None:
        maximise = frame.attrs.get("maximise", ())
    data = frame[frame["status"] == "passed"] if "status" in frame else frame
    if "case" in data and data["case"].nunique() > 1:
        data = _means(data, [x, y])
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    if colour is not None and data[colour].dtype.kind not in "if":
        for value, part in data.groupby(colour, sort=False):
            ax.scatter(part[x], part[y], s=28, alpha=0.8, label=str(value))
        ax.legend(title=colour)
    elif colour is not None:
        shown = ax.scatter(data[x], data[y], s=28, c=data[colour].astype(float), cmap="viridis")
        ax.figure.colorbar(shown, ax=ax, label=colour)
    else:
        ax.scatter(data[x], data[y], s=28, color="#8c959f", label="points")
    best = front(data, x, y, maximise)
    ax.step(best[x], best[y], where="post", color="#c2410c", linewidth=1.4, zorder=3)
    ax.scatter(best[x], best[y], s=46, facecolors="none", edgecolors="#c2410c", linewidths=1.6, zorder=4)
    if label is not None:
        names = [label] if isinstance(label, str) else list(label)
        for i, (_, row) in enumerate(best.iterrows()):
            text = ", ".join(f"{_short(n)} {row[n]}" for n in names)
            ax.annotate(text, (row[x], row[y]), textcoords="offset points", xytext=(7, 7 if i % 2 == 0 else -12), fontsize=8)
    ax.set_xlabel(_named(x))
    ax.set_ylabel(_named(y))
    ax.grid(alpha=0.25)
    if np.all(data[[x, y]].to_numpy(dtype=float) > 0):
        ax.margins(0.1)
    return ax


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _named(name: str) -> str:
    """A column with its unit, as far as it has one."""
    from . import _native

    meaning = dict(_native.headlines()).get(name)
    return f"{name}\n({meaning})" if meaning else name


def _means(frame: Any, columns: Sequence[str]) -> Any:
    """For each configuration the geometric means of columns over the cases; only configurations that all cases have."""
    import numpy as np

    first = list(frame.columns).index("status") if "status" in frame else len(frame.columns)
    settings = [c for c in list(frame.columns)[:first] if c not in ("point", "id", "case")]
    cases = frame["case"].nunique()
    rows = []
    for values, part in frame.groupby(settings, dropna=False, sort=False) if settings else [((), frame)]:
        if part["case"].nunique() == cases:
            values = values if isinstance(values, tuple) else (values,)
            means = {c: float(np.exp(np.log(part[c].astype(float)).mean())) for c in columns}
            rows.append(dict(zip(settings, values)) | means)
    import pandas

    return pandas.DataFrame(rows)
