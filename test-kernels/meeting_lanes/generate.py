"""Code that both sides of a branch lead to, with barriers in it, also from out of loops, and steps of a switch that fall through."""

import numpy as np

from cases import I, L, inp, launch, out

AFTER = "whole programs"


def make(r):
    n, size = 192, 48
    table = r.integers(1, 1 << 20, 128).astype(np.int32)
    values = r.integers(0, 100, n).astype(np.int32)
    with np.errstate(over="ignore"):
        asked, logs = [], []
        for more in (0, 1):
            shared = (np.arange(n, dtype=np.int32) * 3 + more).reshape(-1, size)
            log = np.zeros((n // size, 2), np.int32)
            log[:, 0] = shared[:, size // 2]
            if more:
                log[:, 1] = shared[:, -1]
                shared = shared ^ shared << 7
            asked.append(shared.reshape(-1))
            logs.append(log)
        groups = values.reshape(-1, size)
        sums = np.zeros_like(groups)
        for k in range(size):
            sums = sums * np.int32(3) + np.roll(groups, -k, 1)
        steps = np.zeros(n, np.int32)
        for i, v in enumerate(values):
            x = np.int32(v)
            if v & 3 == 3:
                x = -x
            else:
                if v & 3 == 0:
                    x = x + table[v]
                if v & 3 <= 1:
                    for k in range(v & 7):
                        x = x * np.int32(5) + table[(x & 31) + k]
                for _ in range(4):
                    x = x ^ (x << 3 ^ table[x & 63])
            steps[i] = x
        left, ids, places = np.zeros(n, np.int32), np.arange(n), np.arange(n).reshape(-1, size)
        for turn in range(3):
            found = np.zeros(n, np.int32)
            for k in range(9):
                first = (found == 0) & (values[(ids * 7 + k + turn) % 64] < 8)
                second = (found == 0) & ~first & (values[(ids + k * turn) % 64] > 95)
                found[first], found[second] = 1, 2
                left[second] ^= 7
                left[found == 0] += table[k]
            left[found == 0] += 5
            left = left + left[np.roll(places, -1, 1)].reshape(-1)
    return (
        {
            "values": inp(values),
            "table": inp(table),
            "plain": out(asked[0]),
            "plain_log": out(logs[0]),
            "asked": out(asked[1]),
            "asked_log": out(logs[1]),
            "sums": out(sums.reshape(-1)),
            "steps": out(steps),
            "left": out(left),
        },
        [
            launch("ask_first", [n], [size], "plain", "plain_log", L(4 * size), I(0)),
            launch("ask_first", [n], [size], "asked", "asked_log", L(4 * size), I(1)),
            launch("either", [n], [size], "values", "table", "sums", L(4 * size)),
            launch("from_step", [n], [size], "values", "table", "steps"),
            launch("left_early", [n], [size], "values", "table", "left", L(4 * size), I(9), I(0)),
        ],
        [],
    )
