"""A tensor times a matrix in three dimensions; a copy back."""

from bounds import E, zeros
from cases import I, f32, inp, launch, out, tmp

AFTER = "PolyBench doitgen"


def make(r):
    nr, nq, np_ = 5, 7, 19
    a, c = f32(r, nr, nq, np_), f32(r, np_, np_)
    s = zeros(nr, nq, np_)
    for k in range(np_):
        s = s + E(a[:, :, k : k + 1]) * E(c[k])
    return (
        {"a": out(s, init=a), "c": inp(c), "sum": tmp("float32", nr, nq, np_)},
        [
            launch("product", [20, nq, nr], [10, 7, 1], "a", "c", "sum", I(np_)),
            launch("back", [np_, nq, nr], [19, 1, 5], "a", "sum"),
        ],
        [],
    )
