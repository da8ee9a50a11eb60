"""Three dependent products of rectangular matrices."""

from bounds import E, zeros
from cases import I, ceil, f32, inp, launch, out

AFTER = "PolyBench 2mm, 3mm"


def make(r):
    p, q, s, t, v = 19, 23, 17, 29, 21
    a, b, c, d = f32(r, p, q), f32(r, q, s), f32(r, s, t), f32(r, t, v)

    def mul(x, y):
        z = zeros(x.shape[0], y.shape[1])
        for k in range(x.shape[1]):
            z = z + x[:, k : k + 1] * y[k : k + 1, :]
        return z

    e, f = mul(E(a), E(b)), mul(E(c), E(d))
    g = mul(e, f)
    L_ = lambda x, y, z, m, k, n: launch("mm", [ceil(n, 8), ceil(m, 5)], [8, 5], x, y, z, I(m), I(k), I(n))
    return (
        {"a": inp(a), "b": inp(b), "c": inp(c), "d": inp(d), "e": out(e), "f": out(f), "g": out(g)},
        [L_("a", "b", "e", p, q, s), L_("c", "d", "f", s, t, v), L_("e", "f", "g", p, s, v)],
        [],
    )
