"""2-D convolution of a padded image: filter and rows reused, output streams."""

from bounds import E, zeros
from cases import I, f32, inp, launch, out

AFTER = "Parboil, vendor samples"


def make(r):
    w, h, f = 53, 29, 5
    image, filt = f32(r, h + f - 1, w + f - 1), f32(r, f, f)
    y = zeros(h, w)
    for i in range(f):
        for j in range(f):
            y = y + E(image[i : i + h, j : j + w]) * E(filt[i, j])
    return (
        {"in": inp(image), "filter": inp(filt), "out": out(y)},
        [launch("convolve", [60, 30], [20, 3], "in", "filter", "out", I(w), I(h))],
        [f"-DSIZE={f}"],
    )
