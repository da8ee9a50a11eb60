"""Cross entropy of rows and its gradient: a row a work-item, logarithms and exponentials, a label's element apart"""

import numpy as np

from bounds import E, exp, log, stack, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "machine learning layers"


def make(r):
    rows, classes = 55, 10
    x, label = f32(r, rows, classes, low=-4, high=4), r.integers(0, classes, rows).astype(np.int32)
    d = E(x) - E(x.max(1, keepdims=True))
    e, s = exp(d), zeros(rows)
    for k in range(classes):
        s = s + e[:, k]
    at = np.arange(rows), label
    one = np.zeros((rows, classes), np.float32)
    one[at] = 1
    return (
        {"score": inp(x), "label": inp(label), "loss": out(log(s) - d[at]), "grad": out(e * (E(1.0) / s)[:, None] - E(one))},
        [launch("loss", [ceil(rows, 32)], [32], "score", "label", "loss", "grad", I(rows), I(classes))],
        [],
    )
