"""Matrix times vector by rows: a work-group walks along its row, every row reads the whole vector; a local sum."""

from bounds import E, zeros
from cases import I, f32, inp, launch, out

AFTER = "vendor samples"


def make(r):
    rows, cols, size = 21, 151, 32
    a, x = f32(r, rows, cols), f32(r, cols)
    parts = [zeros(rows) for _ in range(size)]
    for k in range(cols):
        parts[k % size] = parts[k % size] + E(a[:, k]) * E(x[k])
    half = size // 2
    while half:
        for i in range(half):
            parts[i] = parts[i] + parts[i + half]
        half //= 2
    return (
        {"a": inp(a), "x": inp(x), "y": out(parts[0])},
        [launch("row_dot", [rows * size], [size], "a", "x", "y", {"local": 4 * size}, I(cols))],
        [],
    )
