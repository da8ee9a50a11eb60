#!/usr/bin/env python3
"""Makes f64/*.npy: arguments and reference values of the double-precision math functions, by mpmath with 240 bits and more.

Each row: the arguments, the value rounded to double, and the rest (value - rounded). `pip install mpmath numpy`, then
`python3 tests/ulp/generate.py [FUNCTION ...]`. The numbers are the same each time.
"""

import math
import random
import sys
from pathlib import Path

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.prec = 240
PI = mp.pi


def bits(r):
    return np.frombuffer(r.getrandbits(64).to_bytes(8, "little"))[0]


def logarithmic(r, low, high):
    return math.copysign(2.0 ** r.uniform(low, high), r.random() - 0.5)


def neighbour(x, steps):
    for _ in range(abs(steps)):
        x = math.nextafter(x, math.copysign(math.inf, steps))
    return x


def unary_inputs(r, low, high):
    """Random bits, magnitudes around 1, the interesting interval, the neighbourhood of multiples of pi/2, 1/2 and 1, tiny numbers."""
    xs = [bits(r) for _ in range(150)]
    xs += [logarithmic(r, -14, 14) for _ in range(200)]
    xs += [logarithmic(r, -60, -14) for _ in range(40)]
    xs += [r.uniform(-1, 1) for _ in range(150)]
    xs += [r.uniform(low, high) for _ in range(350)]
    xs += [neighbour(float(mpf(k) * PI / 2), r.randint(-2, 2)) for k in [r.randint(-60, 60) for _ in range(60)]]
    xs += [neighbour(float(mpf(k) * PI / 2), r.randint(-1, 1)) for k in [r.randint(1, 1 << r.randint(8, 60)) for _ in range(60)]]
    xs += [neighbour(k / 2, r.randint(-3, 3)) for k in [r.randint(-40, 40) for _ in range(60)]]
    xs += [neighbour(1.0, r.randint(-40, 40)) for _ in range(20)]
    xs += [5e-324, 1e-320, 2.2250738585072014e-308, 1e-300, 1.7976931348623157e308, 6381956970095103 * 2.0**797]
    return xs


def sinpi(x):
    return mpmath.sinpi(x)


UNARY = {
    "acos": (mpmath.acos, -1, 1),
    "acosh": (mpmath.acosh, 1, 20),
    "acospi": (lambda x: mpmath.acos(x) / PI, -1, 1),
    "asin": (mpmath.asin, -1, 1),
    "asinh": (mpmath.asinh, -20, 20),
    "asinpi": (lambda x: mpmath.asin(x) / PI, -1, 1),
    "atan": (mpmath.atan, -8, 8),
    "atanh": (mpmath.atanh, -1, 1),
    "atanpi": (lambda x: mpmath.atan(x) / PI, -8, 8),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), -100, 100),
    "cos": (mpmath.cos, -100, 100),
    "cosh": (mpmath.cosh, -712, 712),
    "cospi": (mpmath.cospi, -100, 100),
    "erf": (mpmath.erf, -7, 7),
    "erfc": (mpmath.erfc, -7, 28),
    "exp": (mpmath.exp, -746, 710),
    "exp2": (lambda x: mpmath.power(2, x), -1076, 1025),
    "exp10": (lambda x: mpmath.power(10, x), -324, 309),
    "expm1": (mpmath.expm1, -40, 710),
    "lgamma": (lambda x: mpmath.re(mpmath.loggamma(x)) if x > 0 else mpmath.log(abs(mpmath.gamma(x))), -20, 60),
    "log": (mpmath.log, 0, 4),
    "log2": (lambda x: mpmath.log(x, 2), 0, 4),
    "log10": (mpmath.log10, 0, 4),
    "log1p": (mpmath.log1p, -1, 4),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 0, 100),
    "sin": (mpmath.sin, -100, 100),
    "sinh": (mpmath.sinh, -712, 712),
    "sinpi": (sinpi, -100, 100),
    "tan": (mpmath.tan, -100, 100),
    "tanh": (mpmath.tanh, -20, 20),
    "tanpi": (lambda x: mpmath.sinpi(x) / mpmath.cospi(x), -100, 100),
    "tgamma": (mpmath.gamma, -185, 172),
}


def power_inputs(r):
    pairs = [(abs(bits(r)), bits(r)) for _ in range(150)]
    pairs += [(2.0 ** r.uniform(-20, 20), r.uniform(-50, 50)) for _ in range(350)]
    pairs += [(1 + logarithmic(r, -50, -1), logarithmic(r, 1, 50)) for _ in range(350)]
    for _ in range(350):  # results over the whole range, to the edges
        x = abs(logarithmic(r, -1000, 1000))
        pairs.append((x, r.uniform(-1080, 1026) / math.log2(x)))
    pairs += [(2.0 ** r.uniform(-9, 9), float(r.randint(-120, 120))) for _ in range(150)]
    return pairs


def two(r, low=-300, high=300):
    pairs = [(bits(r), bits(r)) for _ in range(150)]
    pairs += [(logarithmic(r, -20, 20), logarithmic(r, -20, 20)) for _ in range(400)]
    pairs += [(logarithmic(r, low, high), logarithmic(r, low, high)) for _ in range(300)]
    pairs += [(r.uniform(-2, 2), r.uniform(-2, 2)) for _ in range(300)]
    pairs += [(math.ldexp(r.random(), -1073 + k % 7), math.ldexp(r.random(), -1073 + k % 5)) for k in range(50)]
    return pairs


def integer_power(r):
    rows = [(bits(r), float(r.randint(-8, 8))) for _ in range(150)]
    rows += [(logarithmic(r, -9, 9), float(r.randint(-120, 120))) for _ in range(350)]
    rows += [(math.copysign(1 + logarithmic(r, -40, -1), r.random() - 0.5), float(round(logarithmic(r, 0, 31)))) for _ in range(350)]
    return [(x, max(-(2.0**31), min(n, 2.0**31 - 1))) for x, n in rows]


def roots(r):
    rows = [(bits(r), float(r.choice([-1, 1]) * r.randint(1, 20))) for _ in range(400)]
    rows += [(logarithmic(r, -9, 9), float(r.choice([-1, 1]) * r.randint(1, 300))) for _ in range(300)]
    rows += [(logarithmic(r, -1000, 1000), float(r.choice([-1, 1]) * r.randint(1, 2**31 - 1))) for _ in range(100)]
    return rows


def powers(x, y):
    e = y * mpmath.log(abs(x)) / mpmath.log(2)
    if abs(e) > 1100:
        return (mpf("1e-400") if e < 0 else mpf("inf")) * (-1 if x < 0 and int(y) % 2 else 1)
    v = mpmath.exp(y * mpmath.log(abs(x)))
    return -v if x < 0 and int(y) % 2 else v


def root(x, n):
    if x < 0 and int(n) % 2 == 0:
        return mpmath.nan
    return mpmath.sign(x) * mpmath.exp(mpmath.log(abs(x)) / n)


SEVERAL = {
    "atan2": (mpmath.atan2, two),
    "atan2pi": (lambda y, x: mpmath.atan2(y, x) / PI, two),
    "hypot": (lambda x, y: mpmath.sqrt(x * x + y * y), lambda r: two(r, -1000, 1000)),
    "pow": (powers, power_inputs),
    "pown": (powers, integer_power),
    "rootn": (root, roots),
}


def usable(v):
    return isinstance(v, mpf) and not mpmath.isnan(v)


def rows_of(name):
    r = random.Random(name)
    rows = []
    if name in UNARY:
        f, low, high = UNARY[name]
        inputs = [(x,) for x in unary_inputs(r, low, high)]
    else:
        f, make = SEVERAL[name]
        inputs = make(r)
    for arguments in inputs:
        # Zeros, infinities and NaNs have results that the test knows.
        if any(not math.isfinite(a) for a in arguments) or arguments[0] == 0 or arguments[-1] == 0:
            continue
        # Where the value is 0, 1 or infinite to 200 bits, mpmath would take very long.
        a = max(abs(x) for x in arguments)
        if name in ("exp", "expm1", "sinh", "cosh", "exp2", "exp10", "tanh", "erf", "erfc") and a > 1200:
            continue
        if name in ("tgamma", "lgamma") and (a > 1e6 or (arguments[0] < 0 and arguments[0] == int(arguments[0]))):
            continue
        big = name in ("sin", "cos", "tan", "atan2", "atan2pi")
        with mp.workprec(2600 if big else 240 if name != "lgamma" else 400):
            try:
                v = f(*[mpf(float(a)) for a in arguments])
            except (ZeroDivisionError, ValueError, OverflowError):
                continue
            if not usable(v):
                continue
            if v != 0 and abs(v) > mpf(2) ** 1024:
                v = mpmath.sign(v) * mpf("inf")
            hi = float(v)
            if v != 0 and abs(v) < mpf(2) ** -1080:
                hi, lo = math.copysign(0.0, v), 0.0
            elif math.isinf(hi):
                hi, lo = (hi, 0.0) if mpmath.isinf(v) else (math.copysign(1.7976931348623157e308, hi), float(v - mpf(math.copysign(1.7976931348623157e308, hi))))
            else:
                lo = float(v - mpf(hi))
        rows.append((*arguments, hi, lo))
    return np.array(rows, dtype="<f8")


def main():
    names = sys.argv[1:] or [*UNARY, *SEVERAL]
    folder = Path(__file__).parent / "f64"
    folder.mkdir(exist_ok=True)
    for name in names:
        rows = rows_of(name)
        np.save(folder / f"{name}.npy", rows)
        print(name, len(rows))


main()
