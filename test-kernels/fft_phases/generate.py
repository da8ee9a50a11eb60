"""Short phases of many registers: transforms of 16 points in registers between dependent loads"""

import numpy as np

from bounds import E, stack, zeros
from cases import I, f32, inp, launch, out


def make(r):
    groups, n, steps, lines = 2, 40, 4, 17
    link, data, window = r.integers(0, lines, lines).astype(np.int32), f32(r, lines, n), f32(r, 64, 2)
    w = np.stack([np.cos(np.pi * np.arange(8) / 8), np.sin(np.pi * np.arange(8) / 8)], 1).astype(np.float32)
    w[4, 0] = 0
    result = []
    for g in range(groups):
        line, s = g, zeros(n)
        for _ in range(steps):
            line = link[line]
            at = (np.arange(n) & 3)[:, None] * 16 + np.arange(16)
            x = E(window[at]) * E(data[line][:, None, None])
            re, im = x[:, :, 0], x[:, :, 1]
            half = 8
            while half:
                for k in range(8):
                    i = k // half * 2 * half + k % half
                    c, q = (E(v) for v in w[k % half * (8 // half)])
                    dr, di = re[:, i] - re[:, i + half], im[:, i] - im[:, i + half]
                    re[:, i], im[:, i] = re[:, i] + re[:, i + half], im[:, i] + im[:, i + half]
                    re[:, i + half], im[:, i + half] = dr * c + di * q, di * c - dr * q
                half //= 2
            power = zeros(n)
            for k in range(16):
                power = power + (re[:, k] * re[:, k] + im[:, k] * im[:, k]) * E(k + 1.0)
            s = E(0.5) * s + power
        result.append(s)
    return (
        {"link": inp(link), "data": inp(data), "window": inp(window), "out": out(stack(result))},
        [launch("walk", [groups * n], [n], "link", "data", "window", "out", I(steps))],
        [],
    )
