"""Loop with divergent exits, no memory traffic."""

import numpy as np

from cases import I, launch, nearest, out


def make(r):
    w, h, limit = 60, 48, 150
    x0, y0, dx, dy = (np.float32(v) for v in (-2.1, -1.2, 2.9 / 60, 2.4 / 48))
    f = np.float32
    px, py = np.meshgrid(np.arange(w, dtype=f), np.arange(h, dtype=f))
    cx, cy = x0 + dx * px, y0 + dy * py
    assert cx.dtype == f
    x, y = np.zeros_like(cx), np.zeros_like(cx)
    count = np.full((h, w), limit, np.int32)
    alive = np.ones((h, w), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(limit):
            xx, yy = x * x, y * y
            left = alive & (xx + yy > f(4))
            count[left] = i
            alive &= ~left
            y = f(2) * x * y + cy
            x = xx - yy + cx
    assert x.dtype == f
    arguments = [*map(nearest, (x0, y0, dx, dy)), I(limit)]
    return {"result": out(count)}, [launch("mandelbrot", [w, h], [20, 3], "result", *arguments)], []
