"""Game of Life, 32 cells a word: full adders on bits, wrapped borders, generations in local memory."""

import numpy as np

from cases import I, launch, out

AFTER = "vendor samples"


def make(r):
    h, words, steps = 26, 3, 7
    cells = (r.random((h, 32 * words)) < 0.35).astype(np.uint8)
    pack = lambda c: (c.reshape(h, words, 32).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(2).astype(np.uint32)
    start = pack(cells)
    for _ in range(steps):
        near = sum(np.roll(cells, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        cells = ((near == 3) | ((near == 2) & (cells == 1))).astype(np.uint8)
    return {"cells": out(pack(cells), init=start)}, [launch("life", [words, h], [words, h], "cells", I(steps))], []
