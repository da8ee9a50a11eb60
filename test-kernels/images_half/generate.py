"""Halves in images: `read_imageh` and `write_imageh` of every image type."""

import numpy as np

SEED = 7
W, H, D, L = 11, 7, 5, 3


def make(r):
    flat = r.uniform(-3, 3, (H, W, 4)).astype(np.float32)
    half = flat.astype(np.float16)
    stack = np.zeros((L, H, W, 4), np.float16)
    stack[1] = half
    solid = np.zeros((D, H, W, 4), np.float16)
    solid[2] = half
    solid[0] = half * np.float16(2)
    expected = {
        "line_out": half[0],
        "row_out": half[0],
        "lines_out": half[:L],
        "plane_out": half * np.float16(2),
        "stack_out": stack,
        "solid_out": solid,
        "wrong": np.zeros(64, np.int32),
    }
    shapes = {
        "line": {"width": W},
        "lines": {"width": W, "layers": L},
        "plane": {"width": W, "height": H},
        "stack": {"width": W, "height": H, "layers": L},
        "solid": {"width": W, "height": H, "depth": D},
        "row": {"width": W},
    }
    buffers = {
        "flat": {"npy": flat, "image": {"width": W, "height": H, "format": "RGBA_FLOAT"}},
        "wrong": {"zeros": [64], "dtype": "int32", "expect": expected["wrong"]},
    }
    for k, (name, shape) in enumerate(shapes.items()):
        texels = [shape[n] for n in ("layers", "depth", "height", "width") if n in shape] + [4]
        if name != "plane":
            buffers[name] = {
                "random": texels,
                "dtype": "float32",
                "low": -2,
                "high": 2,
                "seed": k,
                "image": {**shape, "format": "RGBA_FLOAT"},
            }
        buffers[f"{name}_out"] = {
            "zeros": texels,
            "dtype": "float16",
            "expect": expected[f"{name}_out"],
            "image": {**shape, "format": "RGBA_HALF"},
        }
    names = lambda *list: [{"buffer": n} for n in list]
    launches = [
        {
            "kernel": "read",
            "global": [64],
            "local": [32],
            "args": [
                *names("line", "lines", "flat", "stack", "solid", "row"),
                {"sampler": {"filter": "linear", "address": "clamp"}},
                *names("wrong"),
            ],
        },
        {
            "kernel": "write",
            "global": [W, H],
            "args": names("flat", "line_out", "lines_out", "plane_out", "stack_out", "solid_out", "row_out"),
        },
        {"kernel": "twice", "global": [W, H], "args": names("plane_out", "solid_out")},
    ]
    return buffers, launches, []
