"""More arguments than operands name: structures, numbers, pointers, an image and a sampler behind the first kilobyte."""

import numpy as np

from cases import D, I, L, data, inp, launch, out

FORM = "300fbxh4xd3i4xq4B4x"


def make(r):
    count, group, n, flag, wide, v, last = 75, 25, 6, -9, (1 << 63) + 12345, [3.0, 0.0, 0.0, 8.0], -70.0
    values = r.integers(-500, 500, count).astype(np.float32)
    table = r.integers(-9, 9, n).astype(np.int32)
    texels = r.integers(-50, 50, (2, 4, 4)).astype(np.float32)
    large = [
        ([float(f) for f in r.integers(-99, 99, 300)], -7 * k, 300 * k, 1000.0 * k, [5 * k, -6, 7], 5 + (k - 2 << 40), [1, 2, 250, k])
        for k in (1, 2)
    ]

    def parts(a, k):
        f, c, h, d, i, l, u = a
        return int(f[k]) + c + h + int(d) + i[k % 3] + l + u[1] * u[2]

    first, second = large
    result = []
    for i in range(count):
        lane = i % group
        other = i - lane + group - 1 - lane
        total = wide + n * other + flag + int(values[i] + v[0] + 2 * v[3]) + int(texels[i >> 2 & 1, i & 3, 2]) + 4
        total += parts(first, i) + parts(second, 299 - i) + parts(second, 7) + int(last)
        for k in range(n):
            total = total * 3 + second[1] + int(table[k])
        total %= 1 << 64
        result.append(total ^ (second[4][1] % (1 << 64) if i & 1 and second[5] == 5 else 0))
    by_value = [data(FORM, *f, c, h, d, *i, l, *u) for f, c, h, d, i, l, u in large]
    sampler = {"normalized": False, "address": "clamp-to-edge", "filter": "nearest"}
    return (
        {
            "in": inp(values),
            "table": inp(table),
            "image": {"npy": texels, "image": {"width": 4, "height": 2, "format": "RGBA_FLOAT"}},
            "out": out(np.array(result, np.uint64).astype(np.int64)),
        },
        [
            launch(
                "sums",
                [count],
                [group],
                by_value[0],
                "out",
                "in",
                L(4 * group),
                I(n),
                data("b", flag),
                data("Q", wide),
                data("4f", *v),
                "image",
                {"sampler": sampler},
                by_value[1],
                "table",
                D(last),
            )
        ],
        [],
    )
