"""Goldens with bounds of the rounding errors that a kernel may make.

`E` is a double that carries a bound of the errors a float32 (or float64) evaluation in the kernel's order may have added up to, OpenCL's
limits for built-ins included; contraction to fma only makes them smaller. Where a comparison of inexact values decides an integer,
`decided` asserts that it is not within the bound.
"""

import numpy as np

U32, U64 = 2.0**-24, 2.0**-53  # half an ulp of 1: the relative error of one operation


class E:
    """Doubles with bounds of the error of their evaluation in float32 (u = 2^-24) or float64 (2^-53)."""

    __array_ufunc__ = None

    def __init__(self, v, e=None, u=U32):
        self.v = np.array(v, np.float64)
        if u == U32:
            assert (e is not None) or np.array_equal(self.v.astype(np.float32), self.v), "not a float32"
        self.e = np.zeros(self.v.shape) + (0 if e is None else e)
        self.u = u

    def lift(self, x):
        if isinstance(x, E):
            return x
        return E(np.asarray(x, np.float32 if self.u == U32 else np.float64).astype(np.float64), u=self.u)

    def rounded(self, v, e, times=1.0):
        """`times` is in units of u: 1 for a correctly rounded operation, 2k for k ulp."""
        return E(v, e + times * self.u * (np.abs(v) + e), self.u)

    def __add__(self, b):
        b = self.lift(b)
        return self.rounded(self.v + b.v, self.e + b.e)

    def __sub__(self, b):
        b = self.lift(b)
        return self.rounded(self.v - b.v, self.e + b.e)

    def __rsub__(self, a):
        return self.lift(a) - self

    def __mul__(self, b):
        b = self.lift(b)
        return self.rounded(self.v * b.v, np.abs(self.v) * b.e + np.abs(b.v) * self.e + self.e * b.e)

    def __truediv__(self, b):
        b = self.lift(b)
        low = np.abs(b.v) - b.e
        assert (low > 0).all()
        v = self.v / b.v
        return self.rounded(v, (self.e + np.abs(v) * b.e) / low, 5 if self.u == U32 else 1)  # OpenCL: 2.5 ulp

    def __rtruediv__(self, a):
        return self.lift(a) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return E(-self.v, self.e, self.u)

    def __getitem__(self, i):
        return E(self.v[i], self.e[i], self.u)

    def __setitem__(self, i, x):
        x = self.lift(x)
        self.v[i], self.e[i] = x.v, x.e

    def __len__(self):
        return len(self.v)

    @property
    def T(self):
        return E(self.v.T, self.e.T, self.u)

    @property
    def shape(self):
        return self.v.shape

    def copy(self):
        return E(self.v.copy(), self.e.copy(), self.u)

    def reshape(self, *s):
        return E(self.v.reshape(*s), self.e.reshape(*s), self.u)

    def through(self, f, ulp, floor=-np.inf):
        """A function monotone within the bounds, computed to `ulp` ulp."""
        v = f(self.v)
        e = np.maximum(np.abs(f(self.v + self.e) - v), np.abs(f(np.maximum(self.v - self.e, floor)) - v))
        return self.rounded(v, e, 2 * ulp)

    def exact(self, f):
        """A Lipschitz-1 function without rounding: fabs, max with a constant."""
        return E(f(self.v), self.e, self.u)


def zeros(*shape, u=U32):
    return E(np.zeros(shape), u=u)


def exp(x):
    return x.through(np.exp, 3)


def exp2(x):
    return x.through(np.exp2, 3)


def log(x):
    return x.through(np.log, 3)


def sqrt(x):
    return x.through(np.sqrt, 3, 0.0)


def rsqrt(x):
    return x.through(lambda v: 1 / np.sqrt(v), 2)


def sin(x):
    return x.rounded(np.sin(x.v), x.e, 8) if x.v.size else x


def cos(x):
    return x.rounded(np.cos(x.v), x.e, 8)


def where(c, a, b):
    return E(np.where(c, a.v, b.v), np.where(c, a.e, b.e), a.u)


def maximum(a, b):
    return E(np.maximum(a.v, b.v), np.maximum(a.e, b.e), a.u)


def minimum(a, b):
    return E(np.minimum(a.v, b.v), np.maximum(a.e, b.e), a.u)


def stack(xs):
    return E(np.stack([x.v for x in xs]), np.stack([x.e for x in xs]), xs[0].u)


def edge(x):
    """Padded by one with the border's values in all dimensions."""
    return E(np.pad(x.v, 1, mode="edge"), np.pad(x.e, 1, mode="edge"), x.u)


def tree(x):
    """The reduction by halves along the first axis that the kernels do in local memory."""
    n = len(x)
    while n > 1:
        n //= 2
        x = x[:n] + x[n : 2 * n]
    return x[0]


def decided(x, threshold=0.0):
    """x < threshold where the errors cannot change it."""
    t = x.lift(threshold)
    assert (np.abs(x.v - t.v) > x.e + t.e).all(), "a comparison within the rounding errors"
    return x.v < t.v


def up(x):
    """Rounded up to two digits."""
    if x == 0:
        return 0.0
    s = 10.0 ** (int(np.floor(np.log10(x))) - 1)
    return float(f"{(np.floor(x / s) + 1) * s:.2g}")
