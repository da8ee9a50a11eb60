"""Opening of an image: erosion and dilation by a disc over bytes in a local tile with its border, 33 x 17"""

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "image suites"


def make(r):
    w, h, tile = 33, 17, 8
    img = r.integers(0, 256, (h, w)).astype(np.uint8)
    disc = [(j, i) for j in range(5) for i in range(5) if abs(i - 2) + abs(j - 2) <= 2]

    def morph(x, pick, fill):
        p = np.pad(x, 2, constant_values=fill)
        return pick([p[j : j + h, i : i + w] for j, i in disc], 0)

    low = morph(img, np.min, 255)
    size = [ceil(w, tile), ceil(h, tile)]
    return (
        {"in": inp(img), "low": out(low), "out": out(morph(low, np.max, 0))},
        [
            launch("morph", size, [tile, tile], "in", "low", I(w), I(h), I(0)),
            launch("morph", size, [tile, tile], "low", "out", I(w), I(h), I(1)),
        ],
        [],
    )
