"""Products of polynomials by a transform modulo a prime: 64-bit remainders, butterflies in local memory"""

import numpy as np

from cases import UI, launch, out

P = 998244353


def make(r):
    n, count = 64, 2
    root = pow(3, (P - 1) // n, P)
    a, b = r.integers(0, P, (count, n)).astype(np.uint32), r.integers(0, P, (count, n)).astype(np.uint32)
    a[:, n // 2 :] = b[:, n // 2 :] = 0
    c = np.zeros((count, n), np.uint32)
    for k in range(count):
        s = [0] * n
        for i in range(n // 2):
            for j in range(n // 2):
                s[i + j] = (s[i + j] + int(a[k, i]) * int(b[k, j])) % P
        c[k] = s
    spectrum = [[sum(int(v) * pow(root, i * j, P) for j, v in enumerate(row)) % P for i in range(n)] for row in b]
    size, group = [count * n // 2], [n // 2]
    return (
        {"a": out(c, init=a), "b": out(np.array(spectrum, np.uint32), init=b)},
        [
            launch("transform", size, group, "a", UI(root), UI(1)),
            launch("transform", size, group, "b", UI(root), UI(1)),
            launch("products", [count * n], [n], "a", "b"),
            launch("transform", size, group, "a", UI(pow(root, -1, P)), UI(pow(n, -1, P))),
        ],
        [],
    )
