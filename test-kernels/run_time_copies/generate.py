"""Copies, overlapping moves and fills of sizes that data says, in all memories; a large structure by value."""

import numpy as np

from cases import inp, launch, out

ROW, ITEMS = 96, 48


def moved(r, unit):
    """Rows, where to move what in each, and the rows afterwards."""
    rows = r.integers(0, 256, ROW * ITEMS).astype(np.uint8)
    after = rows.copy()
    moves = []
    for i in range(ITEMS):
        size = int(r.choice([0, 1, 3, 16, 17, 31, int(r.integers(0, 60))]))
        to, start = (int(r.integers(0, (ROW - size) // unit + 1)) * unit for _ in range(2))
        moves.append((to, start, size, ROW))
        row = after[ROW * i : ROW * (i + 1)]
        row[to : to + size] = row[start : start + size].copy()
        row[start : start + size // 2] = i
    return rows, np.array(moves, np.int32), after


def make(r):
    buffers, launches = {}, []
    for name, unit in [("by_bytes", 1), ("by_shorts", 2), ("by_words", 4), ("by_quads", 16)]:
        rows, moves, after = moved(r, unit)
        buffers |= {f"rows_{unit}": out(after, rows), f"moves_{unit}": inp(moves)}
        launches.append(launch(name, [ITEMS], [16], f"rows_{unit}", f"moves_{unit}"))
    large = r.integers(-1000, 1000, (35, 300)).astype(np.int32)
    plus = large.copy()
    for i in range(35):
        plus[i, i % 7] += 1
    buffers |= {"large": inp(large), "copy": out(plus)}
    launches.append(launch("by_value", [35], [7], "large", "copy"))
    return buffers, launches, ["-cl-std=CL3.0"]
