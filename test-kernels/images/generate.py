"""1-D, 2-D, 3-D and array images, every sampler, reads without one, conversions, queries; results of PoCL.

The only goldens that are not numpy's: an OpenCL implementation made them (`cargo xtask setup --peers` installs it with pyopencl).
Left out because PoCL 3.1 departs from the specification there: the alpha of formats without one (must be 1, is 0), normalised
coordinates of arrays (the layer is scaled, too), writes of R_HALF (wrong bytes). Unit tests of the simulator cover them.
"""

from pathlib import Path

import numpy as np

SEED = 31
VERSION = "3.1"


def make(r):
    import pyopencl as cl

    # Another version may round otherwise, within the bounds of the case.
    try:
        platform = next((p for p in cl.get_platforms() if f"PoCL {VERSION}" in p.version), None)
    except cl.LogicError:  # no platform at all
        platform = None
    if platform is None:
        raise ImportError(name=f"PoCL {VERSION}")
    context = cl.Context(platform.get_devices())
    # Kernels are waited for: a blocking copy alone does not always see what they wrote.
    queue = cl.CommandQueue(context)
    program = cl.Program(context, (Path(__file__).parent / "kernel.cl").read_text()).build(["-cl-std=CL1.2"])
    buffers, launches = {}, []
    ORDER = {"R": cl.channel_order.R, "RG": cl.channel_order.RG, "RGBA": cl.channel_order.RGBA, "BGRA": cl.channel_order.BGRA}
    TYPE = {
        "UNORM8": cl.channel_type.UNORM_INT8,
        "FLOAT": cl.channel_type.FLOAT,
        "INT16": cl.channel_type.SIGNED_INT16,
        "UINT8": cl.channel_type.UNSIGNED_INT8,
        "SNORM16": cl.channel_type.SNORM_INT16,
        "HALF": cl.channel_type.HALF_FLOAT,
        "UNORM16": cl.channel_type.UNORM_INT16,
    }
    MODES = {
        "clamp-to-edge": cl.addressing_mode.CLAMP_TO_EDGE,
        "clamp": cl.addressing_mode.CLAMP,
        "repeat": cl.addressing_mode.REPEAT,
        "mirrored-repeat": cl.addressing_mode.MIRRORED_REPEAT,
    }
    FILTERS = {"nearest": cl.filter_mode.NEAREST, "linear": cl.filter_mode.LINEAR}
    flags = cl.mem_flags

    def image(name, array, size, fmt, layers=None, writable=False):
        """A device image of an array, and its buffer in the case."""
        order, ty = fmt.split("_")
        form = cl.ImageFormat(ORDER[order], TYPE[ty])
        mode = flags.WRITE_ONLY if writable else flags.READ_ONLY | flags.COPY_HOST_PTR
        spec = dict(zip(("width", "height", "depth"), size), format=fmt)
        if layers:
            spec["layers"] = layers
        shape = tuple(size) + ((layers,) if layers else ())
        # pyopencl before 2024 has the class alone.
        create = getattr(cl, "create_image", cl.Image)
        result = create(context, mode, form, shape=shape, is_array=bool(layers), hostbuf=None if writable else array)
        if writable:
            buffers[name] = {"zeros": list(array.shape), "dtype": array.dtype.name, "image": spec}
        else:
            buffers[name] = {"npy": array, "image": spec}
        return result

    def expect(name, array, rtol=0.0, atol=0.0):
        buffers[name] = {
            **buffers.get(name, {"zeros": list(array.shape), "dtype": array.dtype.name}),
            "expect": array,
            "rtol": rtol,
            "atol": atol,
        }

    n = 96
    unit = (r.random((n, 4)) * 3 - 1).astype(np.float32)
    buffers["unit"] = {"npy": unit}
    texels = (unit * np.array([11, 7, 5, 1], np.float32)).astype(np.float32)
    buffers["texels"] = {"npy": texels}
    images = {
        "read2d": ("flat", image("flat", r.integers(0, 256, (7, 11, 4)).astype(np.uint8), (11, 7), "RGBA_UNORM8")),
        "read1d": ("line", image("line", r.random((11, 4)).astype(np.float32), (11,), "RGBA_FLOAT")),
        "read3d": ("solid", image("solid", r.random((5, 7, 11, 4)).astype(np.float32), (11, 7, 5), "RGBA_FLOAT")),
        "read2d_array": (
            "stack",
            image("stack", r.integers(0, 256, (3, 7, 11, 4)).astype(np.uint8), (11, 7), "BGRA_UNORM8", layers=3),
        ),
        "read_int": ("signed", image("signed", r.integers(-30000, 30000, (7, 11, 4)).astype(np.int16), (11, 7), "RGBA_INT16")),
        "read_uint": ("unsigned", image("unsigned", r.integers(0, 256, (7, 11, 4)).astype(np.uint8), (11, 7), "RGBA_UINT8")),
    }
    for kernel, (name, device) in images.items():
        integer = kernel in ("read_int", "read_uint")
        for mode, m in MODES.items():
            for filt, f in FILTERS.items():
                for normalized in (False, True):
                    if (
                        not normalized
                        and "repeat" in mode
                        or (integer and (normalized or filt == "linear"))
                        or (normalized and "array" in kernel)
                    ):
                        continue
                    at = "unit" if normalized else "texels"
                    values = unit if normalized else texels
                    place = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
                    out = np.zeros((n, 4), {"read_int": np.int32, "read_uint": np.uint32}.get(kernel, np.float32))
                    result = cl.Buffer(context, flags.WRITE_ONLY, out.nbytes)
                    getattr(program, kernel)(queue, (n,), (32,), device, cl.Sampler(context, normalized, m, f), place, result).wait()
                    cl.enqueue_copy(queue, out, result)
                    label = f"{kernel}_{mode}_{filt}_{'unit' if normalized else 'texels'}"
                    # Weights of a linear filter need nine bits at least; PoCL and we have more. Normalised formats may be off by 1.5 ulp.
                    expect(label, out, *((0.0, 2e-5) if filt == "linear" else (0.0 if integer else 1.8e-7, 0.0)))
                    sampler = {"normalized": normalized, "address": mode, "filter": filt}
                    launches.append(
                        {
                            "kernel": kernel,
                            "global": [n],
                            "local": [32],
                            "args": [{"buffer": name}, {"sampler": sampler}, {"buffer": at}, {"buffer": label}],
                        }
                    )
    source = r.random((9, 13, 4)).astype(np.float32)
    from_image = image("source", source, (13, 9), "RGBA_FLOAT")
    for fmt, dtype, channels in (
        ("BGRA_UNORM8", np.uint8, 4),
        ("R_SNORM16", np.int16, 1),
        ("RGBA_HALF", np.float16, 4),
        ("RGBA_UNORM16", np.uint16, 4),
    ):
        shape = (9, 13, channels)
        name = f"to_{fmt.lower()}"
        to_image = image(name, np.zeros(shape, dtype), (13, 9), fmt, writable=True)
        info = np.zeros(4, np.int32)
        info_buffer = cl.Buffer(context, flags.WRITE_ONLY, info.nbytes)
        program.convert(queue, (16, 12), (8, 4), from_image, to_image, info_buffer).wait()
        out = np.zeros(shape, dtype)
        cl.enqueue_copy(queue, out, to_image, origin=(0, 0), region=(13, 9))
        cl.enqueue_copy(queue, info, info_buffer)
        # Ties may round either way by an ulp of the product.
        expect(name, out, 0.0, 1.0 if dtype in (np.uint16, np.int16) else 0.0)
        expect(f"shape_{fmt.lower()}", info)
        launches.append(
            {
                "kernel": "convert",
                "global": [16, 12],
                "local": [8, 4],
                "args": [{"buffer": "source"}, {"buffer": name}, {"buffer": f"shape_{fmt.lower()}"}],
            }
        )
    return buffers, launches, ["-cl-std=CL1.2"]
