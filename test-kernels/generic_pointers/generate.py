"""Pointers whose address space only the run shows, lists through three spaces, generic atomics."""

import numpy as np

from cases import L, inp, launch

SEED = 91
N, GROUP = 128, 32


def make(r):
    a = r.integers(-1000, 1000, N).astype(np.int32)
    out = np.zeros((N, 12), np.int32)
    counts = np.zeros(3, np.int32)
    copied = np.zeros(N, np.int32)
    for i in range(N):
        l = i % GROUP
        local = [int(v) * 3 for v in a[i - l : i - l + GROUP]]
        private = [i * 10 + k for k in range(4)]
        which = (int(a[i]) & 0xFFFF) % 3
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

    def counted(golden):
        return {"npy": np.zeros_like(golden), "expect": golden}

    return (
        {"a": inp(a), "out": counted(out), "counts": counted(counts), "copied": counted(copied)},
        [launch("spaces", [N], [GROUP], "a", "out", "counts", "copied", L(4 * GROUP))],
        [],
    )
