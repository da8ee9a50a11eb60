"""Projections of a volume along each axis: uniform and divergent conditions around loads in a loop"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, d, limit = 33, 14, 11, 9
    img = r.integers(0, 1000, (d, h, w)).astype(np.int32)
    use = r.integers(0, 4, max(w, h, d)).astype(np.int32)
    buffers, launches = {"in": inp(img), "use": inp(use)}, []
    for axis, name in enumerate("xyz"):
        lines = np.moveaxis(img, 2 - axis, -1)
        n = lines.shape[-1]
        total = (lines[..., : min(n, limit)] * use[: min(n, limit)]).sum(-1).astype(np.int32)
        shown = np.where(use[:n] > 1, lines, -1)
        where = np.where(shown.max(-1) >= 0, shown.argmax(-1), -1).astype(np.int32)
        buffers |= {f"sum_{name}": out(total), f"most_{name}": out(where)}
        size = [ceil(total.shape[1], 16), ceil(total.shape[0], 4)]
        numbers = map(I, (w, h, d, axis, limit))
        launches.append(launch("project", size, [16, 4], "in", f"sum_{name}", f"most_{name}", "use", *numbers))
    return buffers, launches, []
