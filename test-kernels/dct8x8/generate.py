"""DCT of 8x8 blocks: rows then columns through local memory, quantised to short."""

import numpy as np

from bounds import E, zeros
from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    w, h = 40, 24
    image = r.integers(-128, 128, (h, w)).astype(np.int8)
    k, i = np.mgrid[0:8, 0:8]
    basis = (np.cos((2 * i + 1) * k * np.pi / 16) * np.where(k == 0, np.sqrt(1 / 8), 0.5)).astype(np.float32)
    b = image.reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3)
    rows, both = zeros(*b.shape), zeros(*b.shape)
    for j in range(8):
        rows = rows + E(b[..., j : j + 1].astype(float)) * E(basis[:, j])
    for j in range(8):
        both = both + E(basis[:, j])[:, None] * rows[..., j : j + 1, :]
    coefficients = both
    scaled = both / 31.7
    assert (np.abs(np.abs(scaled.v % 1 - 0.5)) > scaled.e).all()
    flat = lambda a: a.transpose(0, 2, 1, 3).reshape(h, w)
    return (
        {
            "image": inp(image),
            "basis": inp(basis),
            "out": out(E(flat(coefficients.v), flat(coefficients.e))),
            "quantised": out(np.rint(flat(scaled.v)).astype(np.int16)),
        },
        [launch("dct", [w, h], [8, 8], "image", "basis", "out", "quantised", I(w))],
        [],
    )
