"""CRC-32 of strings of different length: the table is made in local memory first."""

import zlib

import numpy as np

from cases import I, inp, launch, out

AFTER = "vendor samples"


def make(r):
    n = 75
    lengths = r.integers(0, 60, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    text = r.integers(0, 256, starts[-1]).astype(np.uint8)
    crcs = np.array([zlib.crc32(text[starts[i] : starts[i + 1]].tobytes()) for i in range(n)], np.uint32)
    return (
        {"text": inp(text), "starts": inp(starts), "crcs": out(crcs)},
        [launch("crc", [80], [40], "text", "starts", "crcs", I(n))],
        [],
    )
