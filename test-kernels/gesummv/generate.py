"""Two matrices in one loop; four rows a work-item in a float4."""

from bounds import E, zeros
from cases import F, I, f32, inp, launch, out

AFTER = "PolyBench gesummv"


def make(r):
    n = 44
    a, b, x = f32(r, n, n), f32(r, n, n), f32(r, n)
    s, t = zeros(n), zeros(n)
    for k in range(n):
        s = s + E(a[k]) * E(x[k])
        t = t + E(b[k]) * E(x[k])
    y = s * 1.5 + t * -0.75
    return (
        {"a": inp(a), "b": inp(b), "x": inp(x), "y": out(y)},
        [launch("gesummv", [n // 4], [n // 4], "a", "b", "x", "y", F(1.5), F(-0.75), I(n))],
        [],
    )
