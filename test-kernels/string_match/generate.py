"""Aho-Corasick: an automaton over overlapping pieces of a text, matches counted and marked."""

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    words = ["abca", "bc", "cab", "aab", "ccc", "bbab"]
    text = "".join(r.choice(list("abc"), 700))
    goto_, result, depth = [{}], [set()], [0]
    for i, word in enumerate(words):
        s = 0
        for c in word:
            if c not in goto_[s]:
                goto_[s][c] = len(goto_)
                goto_.append({})
                result.append(set())
                depth.append(depth[s] + 1)
            s = goto_[s][c]
        result[s].add(i)
    fail, queue = [0] * len(goto_), list(goto_[0].values())
    table = np.zeros((len(goto_), 3), np.uint8)
    for c in "abc":
        table[0, ord(c) - 97] = goto_[0].get(c, 0)
    while queue:
        s = queue.pop(0)
        result[s] |= result[fail[s]]
        for c in "abc":
            if c in goto_[s]:
                fail[goto_[s][c]] = int(table[fail[s], ord(c) - 97])
                table[s, ord(c) - 97] = goto_[s][c]
                queue.append(goto_[s][c])
            else:
                table[s, ord(c) - 97] = table[fail[s], ord(c) - 97]
    masks = np.array([sum(1 << i for i in s) for s in result], np.uint8)
    counts = np.array([sum(text.startswith(w, i) for i in range(len(text))) for w in words], np.int32)
    marks = np.array(
        [sum((1 << i) for i, w in enumerate(words) if text[: p + 1].endswith(w)) for p in range(len(text))], np.uint8
    )
    piece = 18
    return (
        {
            "text": inp(np.frombuffer(text.encode(), np.uint8)),
            "table": inp(table),
            "masks": inp(masks),
            "marks": out(marks),
            "counts": out(counts),
        },
        [launch("match", [40], [20], "text", "table", "masks", "marks", "counts", I(len(text)), I(piece), I(4))],
        [],
    )
