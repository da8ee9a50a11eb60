"""Huffman codes: a window of 64 bits that is filled word by word, a table in constant memory, a block a work-item"""

import heapq

import numpy as np

from cases import I, ceil, inp, launch, out

AFTER = "codecs"


def make(r):
    blocks, letters, symbols = 40, 33, 12
    p = np.array([0.3, 0.2, 0.12, 0.1, 0.08, 0.06, 0.05, 0.03, 0.02, 0.02, 0.01, 0.01])
    heap = [(w, [s]) for s, w in enumerate(p)]
    length = [0] * symbols
    heapq.heapify(heap)
    while len(heap) > 1:
        (a, x), (b, y) = heapq.heappop(heap), heapq.heappop(heap)
        for s in x + y:
            length[s] += 1
        heapq.heappush(heap, (a + b, x + y))
    assert max(length) <= 7
    code, codes, table = 0, {}, np.zeros(128, np.uint16)
    for s in sorted(range(symbols), key=lambda s: (length[s], s)):
        n = length[s]
        codes[s] = f"{code >> (7 - n):0{n}b}"
        table[code : code + (1 << (7 - n))] = n << 8 | (97 + s)
        code += 1 << (7 - n)
    text = r.choice(symbols, (blocks, letters), p=p)
    words, start = [], []
    for row in text:
        start.append(len(words))
        bits = "".join(codes[s] for s in row.tolist())
        bits += "0" * (ceil(len(bits), 32) + 64 - len(bits))
        words += [int(bits[k : k + 32], 2) for k in range(0, len(bits), 32)]
    return (
        {
            "words": inp(np.array(words, np.uint32)),
            "start": inp(np.array(start, np.int32)),
            "table": inp(table),
            "out": out((97 + text).astype(np.uint8)),
        },
        [launch("decode", [ceil(blocks, 16)], [16], "words", "start", "table", "out", I(blocks), I(letters))],
        [],
    )
