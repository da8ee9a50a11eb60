#!/usr/bin/env python3
"""Writes this folder's inputs, goldens and case: pointers whose address space only the run shows. Golden: Python integers."""

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
N, GROUP = 128, 32

a = np.random.default_rng(91).integers(-1000, 1000, N).astype(np.int32)
out = np.zeros((N, 12), np.int32)
counts = np.zeros(3, np.int32)
copied = np.zeros(N, np.int32)
for i in range(N):
    l = i % GROUP
    local = [int(v) * 3 for v in a[i - l:i - l + GROUP]]
    private = [i * 10 + k for k in range(4)]
    which = (int(a[i]) & 0xffff) % 3
    value = [int(a[i]), local[l], private[l & 3]][which]
    out[i, 0] = value
    out[i, 1] = value + 1
    out[i, 2] = which
    out[i, 3] = [2, 1, 0][which]
    # A list through private, local and global memory: p -> l -> g.
    out[i, 4] = private[0] + local[(l + 1) % GROUP] + int(a[i])
    out[i, 5] = [int(a[i]), local[l], private[3]][(i + 1) % 3]
    out[i, 6] = 1 if i % 4 == 0 else 0
    out[i, 7] = sum([int(a[i]), local[l], private[1]])
    out[i, 8] = (i % 5) + 7 + 1
    out[i, 9] = 100 + i
    counts[which] += 1
    copied[i] = [int(a[i]), local[l], private[0]][i % 3]

np.save(ROOT / "a.npy", a)
np.save(ROOT / "out.npy", np.zeros_like(out))
np.save(ROOT / "out.expect.npy", out)
np.save(ROOT / "counts.npy", np.zeros_like(counts))
np.save(ROOT / "counts.expect.npy", counts)
np.save(ROOT / "copied.npy", np.zeros_like(copied))
np.save(ROOT / "copied.expect.npy", copied)
case = {
    "source": "kernel.cl",
    "buffers": {
        "a": {"npy": "a.npy", "expect": "a.npy"},
        "out": {"npy": "out.npy", "expect": "out.expect.npy"},
        "counts": {"npy": "counts.npy", "expect": "counts.expect.npy"},
        "copied": {"npy": "copied.npy", "expect": "copied.expect.npy"},
    },
    "launches": [{"kernel": "spaces", "global": [N], "local": [GROUP],
                  "args": [{"buffer": "a"}, {"buffer": "out"}, {"buffer": "counts"}, {"buffer": "copied"}, {"local": 4 * GROUP}]}],
}
(ROOT / "case.json").write_text(json.dumps(case, indent=1) + "\n")
