"""Kernels as functions: arguments of all kinds, arrays that stay, errors."""

from __future__ import annotations

import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import heddle

SCALE = "kernel void scale(global float *a, float f) { a[get_global_id(0)] *= f; }"


def one(gpu: heddle.Machine, text: str, *options: str, **techniques):
    program = gpu.compile(text, *options, **techniques)
    return program[next(iter(program))]


def test_an_array_is_changed_in_place_in_both_modes(gpu):
    scale = one(gpu, SCALE)
    for mode in ("timing", "functional"):
        a = np.arange(1000, dtype=np.float32)
        run = scale[1000, 50](a, np.float32(2.5), mode=mode)
        np.testing.assert_array_equal(a, np.arange(1000, dtype=np.float32) * np.float32(2.5))
        assert (run.cycles is not None) == (mode == "timing") and run.mode == mode
        assert run["work_items"] == 1000 and run["work_groups"] == 20


def test_two_launches_that_are_the_same_take_the_same_cycles():
    def cycles() -> list[int]:
        gpu = heddle.Machine()
        scale, a = one(gpu, SCALE), np.ones(5000, np.float32)
        return [scale[5000](a, 2.0).cycles for _ in range(3)]

    first = cycles()
    keep = [np.ones(n, np.float32) for n in (3, 1000, 70000)]
    assert cycles() == first and keep


def test_arrays_of_the_machine_stay(gpu):
    scale = one(gpu, SCALE)
    a = gpu.array(np.ones(4096), dtype=np.float32, name="ones")
    cold, warm = (scale[4096, 64](a, 2.0) for _ in range(2))
    assert a[0] == 4 and np.asarray(a).sum() == 4 * 4096
    assert warm.cycles < cold.cycles and warm["timing.hierarchy.l2.misses"] < cold["timing.hierarchy.l2.misses"]
    gpu.flush_caches()
    assert scale[4096, 64](a, 0.5)["timing.hierarchy.l2.misses"] == cold["timing.hierarchy.l2.misses"]


def test_what_the_host_writes_is_what_kernels_read(gpu):
    scale = one(gpu, SCALE)
    a = gpu.zeros(64, np.float32)
    scale[64](a, 1.0)  # Now the caches hold it.
    a[...] = 3
    scale[64](a, 2.0)
    assert (a == 6).all()
    a += 1
    a[10:20] = -1
    np.multiply(a, 2, out=a)
    scale[64](a, 10.0)
    assert a[0] == 140 and a[15] == -20
    a.fill(1)
    np.add.at(a, [0, 0], 1)
    scale[64](a, 5.0)
    assert a[0] == 15 and a[1] == 5


def test_arrays_of_the_machine_are_numpy_arrays(gpu):
    a = gpu.array(np.arange(12, dtype=np.int32).reshape(3, 4))
    assert a.shape == (3, 4) and a.dtype == np.int32 and isinstance(a, np.ndarray)
    view = np.asarray(a)
    assert view.ctypes.data == a.ctypes.data, "no copy"
    assert bytes(memoryview(a)) == np.arange(12, dtype=np.int32).tobytes()
    assert a.__array_interface__["data"][1], "read-only for others"
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1
    assert isinstance(a + 1, np.ndarray) and (a + 1).flags.writeable
    assert a[1:].address == a.address + 16
    with pytest.raises(ValueError, match="copy"):
        _ = a.copy().address
    again = pickle.loads(pickle.dumps(a))
    assert (again == view).all() and not isinstance(again, heddle.Array)
    assert gpu.zeros((0, 5)).shape == (0, 5)


def test_parts_of_an_array_are_pointers_into_it(gpu):
    kernel = one(gpu, "kernel void two(global int *a) { a[0] = 7; a[1] = 8; }")
    for mode in ("timing", "functional"):
        a = gpu.zeros(10, np.int32)
        kernel[1](a[5:], mode=mode)
        assert list(a[4:8]) == [0, 7, 8, 0]
        kernel[1](a[1:2], mode=mode)  # It is a pointer into the whole.
        assert list(a[:4]) == [0, 7, 8, 0]
        b = np.zeros(10, np.int32)
        with pytest.raises(heddle.FaultError, match="has 4 bytes"):
            kernel[1](b[4:5], mode=mode)  # Of the host's memory the kernel has only what is given.
        assert list(b[4:6]) == [0, 0]  # Both words are one store.


def test_memory_is_free_when_nobody_has_it(gpu):
    free = gpu.free_bytes
    a = gpu.zeros(1 << 20, np.uint8)
    part = a[100:]
    assert gpu.free_bytes < free - (1 << 20)
    del a
    assert gpu.free_bytes < free - (1 << 20), "a part keeps the whole"
    del part
    assert gpu.free_bytes == free
    with pytest.raises(heddle.LaunchError, match="device memory is exhausted: `huge`"):
        gpu.empty(1 << 50, np.uint8, name="huge")


def test_overlapping_arrays_are_one(gpu):
    kernel = one(gpu, "kernel void add(global int *a, global int *b) { size_t i = get_global_id(0); b[i] = a[i] + 1; }")
    for mode in ("timing", "functional"):
        a = np.zeros(20, np.int32)
        kernel[10, 1](a[:10], a[10:], mode=mode)
        assert list(a) == [0] * 10 + [1] * 10
        kernel[10, 10](a, a, mode=mode)
        assert list(a) == [1] * 20
        kernel[4, 1](a[8:16], a[4:12], mode=mode)
        assert list(a[4:8]) == [2] * 4


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_contiguous_arrays_are_not_copied(gpu, mode):
    """Half a gigabyte that nobody has touched stays so."""
    import resource

    kernel = one(gpu, "kernel void first(global int *a) { a[0] += 1; }")
    a = np.zeros(1 << 27, np.int32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kernel[1](a, mode=mode)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert a[0] == 1 and after - before < 64 << 10, f"{after - before} KiB"


def test_arrays_at_any_address(gpu):
    """Where the host has an array changes neither results nor cycles."""
    scale = one(gpu, SCALE)
    cycles = set()
    for offset in (0, 4, 12, 16, 60, 1028):
        memory = np.zeros(4096 + offset + 64, np.uint8)
        a = memory[offset : offset + 4000].view(np.float32)
        a[...] = np.arange(1000)
        gpu.flush_caches()
        cycles.add(scale[1000, 50](a, 2.0, mode="timing").cycles)
        scale[1000, 50](a, 3.0, mode="functional")
        assert (a == 6 * np.arange(1000)).all() and not memory[offset + 4000 :].any() and not memory[:offset].any()
    assert len(cycles) == 1


def test_values_of_all_types(gpu):
    for name, dtype in [("char", np.int8), ("uchar", np.uint8), ("short", np.int16), ("ushort", np.uint16), ("int", np.int32),
                        ("uint", np.uint32), ("long", np.int64), ("ulong", np.uint64), ("half", np.float16),
                        ("float", np.float32), ("double", np.float64)]:
        kernel = one(gpu, f"#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nkernel void set(global {name} *a, {name} x) {{ *a = x; }}")
        for value in (3, dtype(5), dtype(7).item()):
            a = np.zeros(1, dtype)
            kernel[1](a, value)
            assert a[0] == value
        if np.issubdtype(dtype, np.integer):
            with pytest.raises(heddle.LaunchError, match=r"argument 1 \(`\w+ x`\)"):
                kernel[1](a, 1.5)
            with pytest.raises(heddle.LaunchError, match="does not fit|no integer"):
                kernel[1](a, 1 << 70 if dtype in (np.int64, np.uint64) else 1 << 40)
        else:
            kernel[1](a, float("nan"))
            assert np.isnan(a[0])
            kernel[1](a, -np.inf)
            assert a[0] == -np.inf


def test_vectors_and_structures(gpu):
    vector = one(gpu, "kernel void v(global float4 *a, float4 x, float3 y) { *a = x + (float4)(y, 0); }")
    a = np.zeros(4, np.float32)
    vector[1](a, (1, 2, 3, 4), [10, 20, 30])
    assert list(a) == [11, 22, 33, 4]
    vector[1](a, np.array([1, 1, 1, 1], np.float32), np.array([1, 2, 3], np.float32))
    assert list(a) == [2, 3, 4, 1]
    record = np.dtype([("n", np.int32), ("x", np.float64)], align=True)
    structure = one(gpu, "typedef struct { int n; double x; } S; kernel void s(global S *a, S b) { a->n = b.n + 1; a->x = 2 * b.x; }")
    out = np.zeros(1, record)
    structure[1](out, np.array((4, 2.5), record)[()])
    assert out[0]["n"] == 5 and out[0]["x"] == 5.0
    with pytest.raises(heddle.LaunchError, match="has 16 bytes, 4 are given"):
        structure[1](out, b"1234")
    with pytest.raises(heddle.LaunchError, match="numpy scalar or record"):
        structure[1](out, object())


def test_local_memory_null_offsets_and_repeats(gpu):
    reverse = one(gpu, """kernel void reverse(global int *a, local int *t, global int *none) {
        size_t i = get_local_id(0), n = get_local_size(0);
        t[i] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
        if (!none) a[get_global_id(0)] = t[n - 1 - i]; }""")
    a = np.arange(8, dtype=np.int32)
    reverse[8, 4](a, heddle.local(16), None)
    assert list(a) == [3, 2, 1, 0, 7, 6, 5, 4]
    count = one(gpu, "kernel void count(global int *a) { a[get_global_id(0)] += 1; }")
    a = np.zeros(10, np.int32)
    count[4, 2](a, offset=5, repeat=3)
    count[2, 1, 8](a)
    assert list(a) == [0] * 5 + [3, 3, 3, 4, 1]
    two = one(gpu, "kernel void two(global int *a) { a[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_group_id(1); }")
    a = np.zeros((4, 8), np.int32)
    two[(8, 4), (4, 2)](a)
    assert a[:, 0].tolist() == [0, 0, 1, 1]


def test_images_and_samplers(gpu):
    blur = one(gpu, """kernel void shift(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
        int2 p = (int2)(get_global_id(0), get_global_id(1));
        write_imagef(out, p, read_imagef(in, s, p - (int2)(1, 0))); }""")
    texels = np.arange(4 * 8 * 4, dtype=np.uint8).reshape(4, 8, 4)
    source, target = gpu.image(texels, "RGBA_UNORM8"), gpu.image(np.zeros_like(texels), "RGBA_UNORM8")
    for mode in ("timing", "functional"):
        blur[(8, 4), (4, 2)](source, target, heddle.sampler(address="clamp-to-edge"), mode=mode)
        out = np.asarray(target)
        assert (out[:, 1:] == texels[:, :-1]).all() and (out[:, 0] == texels[:, 0]).all()
    assert source.shape == {"width": 8, "height": 4, "format": "RGBA_UNORM8"}
    with pytest.raises(heddle.InputError, match="its texels take 128 bytes, the array has 64"):
        gpu.image(np.zeros(64, np.uint8), "RGBA_UNORM8", width=8, height=4)
    with pytest.raises(heddle.LaunchError, match="it is an image"):
        blur[(8, 4)](texels, target, heddle.sampler())


def test_program_scope_variables_and_several_kernels_share_a_state(gpu):
    program = gpu.compile("""global int total = 5;
        kernel void add(int n) { atomic_add(&total, n); }
        kernel void get(global int *a) { *a = total; }""", "-cl-std=CL3.0")
    assert list(program) == ["add", "get"] and len(program) == 2
    program["add"][3, 1](4)
    a = np.zeros(1, np.int32)
    program["get"][1](a)
    assert a[0] == 17


def test_arguments_that_do_not_fit(gpu):
    scale = one(gpu, SCALE)
    a = np.zeros(64, np.float32)
    for arguments, message in [
        ((a,), r"takes 2 arguments \(float\* a, float f\), 1 are given"),
        ((a.astype(np.float64), 1.0), r"the kernel takes float, the array has float64; give \.astype\(numpy\.float32\)"),
        ((np.zeros((8, 8), np.float32)[:, :4], 1.0), "not contiguous"),
        ((a.astype(">f4"), 1.0), "byte order"),
        (([1.0, 2.0], 1.0), "give a numpy array"),
        ((heddle.local(4), 1.0), "give a numpy array"),
        ((a, "x"), "is no number"),
    ]:
        with pytest.raises(heddle.LaunchError, match=message):
            scale[64](*arguments)
    a.flags.writeable = False
    with pytest.raises(heddle.LaunchError, match="the array for `a` is read-only, and the kernel may write to it"):
        scale[64](a, 1.0)
    read = one(gpu, "kernel void read(global const int *a, global int *b) { *b = *a; }")
    constant = np.full(1, 9, np.int32)
    constant.flags.writeable = False
    b = np.zeros(1, np.int32)
    read[1](constant, b)
    assert b[0] == 9


def test_sizes_that_do_not_fit(gpu):
    scale, a = one(gpu, SCALE), np.zeros(64, np.float32)
    for sizes, message in [(((8, 8, 8, 8), None), "4 dimensions"), ((4096, 4096), "work-group"), ((8, (4, 2)), "as many dimensions"),
                           ((8, 0), "local size 0")]:
        with pytest.raises(heddle.LaunchError, match=message):
            scale[sizes](a, 1.0)
    with pytest.raises(TypeError, match=r"scale\[global, local\]"):
        scale(a, 1.0)
    with pytest.raises(heddle.InputError, match="mode `fast`"):
        scale[64](a, 1.0, mode="fast")
    with pytest.raises(heddle.InputError, match="there is no option `thread`"):
        scale[64](a, 1.0, thread=2)
    assert scale[0](a, 1.0)["work_groups"] == 0


def test_faults_say_where(gpu):
    kernel = one(gpu, "kernel void k(global int *a, int n)\n{\n  int i = get_global_id(0);\n  a[i + n] = 1;\n}")
    a = np.zeros(100, np.int32)
    for mode in ("timing", "functional"):
        with pytest.raises(heddle.FaultError, match=r"kernel\.cl:4: store of 4 bytes out of bounds .*at offset 400") as e:
            kernel[100, 10](a, 10, mode=mode)
        fault = e.value
        assert (fault.kind, fault.source, fault.kernel) == ("out-of-bounds", "kernel.cl:4", "k")
        assert fault.global_id == (90, 0, 0) and fault.group_id == (9, 0, 0) and fault.local_id == (0, 0, 0)
        assert isinstance(fault, heddle.Error)
        assert a[50] == 1, "what was written until then"
    # The machine goes on.
    kernel[90](a, 10)
    with pytest.raises(heddle.FaultError, match="more than 1000 instructions"):
        one(gpu, "kernel void k(global int *a) { while (*(volatile global int *)a == 0); }")[1](np.zeros(1, np.int32), max_instructions=1000)


def test_checks_run_beside_the_machine(gpu):
    race = one(gpu, "kernel void race(global int *a) { a[0] = get_global_id(0); a[1] += 1; }")
    a = gpu.zeros(4, np.int32)
    with pytest.raises(heddle.FaultError, match="data race") as e:
        race[64, 32](a, check="races")
    assert e.value.kind == "race"
    unset = one(gpu, "kernel void unset(global int *a) { local int t[4]; a[get_global_id(0)] = t[get_local_id(0)]; }")
    for array in (np.zeros(4, np.int32), gpu.zeros(4, np.int32)):
        with pytest.raises(heddle.FaultError, match="uninitialised"):
            unset[4, 4](array, check=["uninitialised", "barriers"])
    fine = one(gpu, SCALE)
    for array in (np.ones(64, np.float32), gpu.array(np.ones(64, np.float32))):
        fine[64](array, 3.0, check="all")
        assert (np.asarray(array) == 3).all()
        fine[64](array, 2.0, check="renames")
        assert (np.asarray(array) == 6).all()
    with pytest.raises(heddle.InputError, match="check races needs mode functional"):
        fine[64](a.view(np.float32), 1.0, check="races", mode="timing")
    with pytest.raises(heddle.InputError, match="there is no check `race`; there are: marks"):
        fine[64](np.ones(64, np.float32), 1.0, check="race")


def test_compiling(gpu, tmp_path):
    with pytest.raises(heddle.CompileError, match=r"mine\.cl:1:23: error: use of undeclared identifier 'x'"):
        gpu.compile("kernel void k() { int y = x; }".replace("int y = ", "    "), name="mine.cl")
    program = gpu.compile("kernel void k(global int *a) { int unused; *a = N; }", "-DN=4 -Wall", "-DM=1")
    assert "unused variable" in program.log
    a = np.zeros(1, np.int32)
    program["k"][1](a)
    assert a[0] == 4
    with pytest.raises(heddle.InputError, match="no kernel `q`; the program has: k"):
        program["q"]
    assert "k" in program and "q" not in program
    path = tmp_path / "file.cl"
    path.write_text('#include "n.h"\nkernel void k(global int *a) { *a = N; }')
    (tmp_path / "n.h").write_text("#define N 11\n")
    gpu.compile(path, f"-I{tmp_path}")["k"][1](a)
    assert a[0] == 11
    with pytest.raises(heddle.CompileError, match="no kernel function"):
        gpu.compile("int f() { return 1; }")
    parameters = gpu.compile(SCALE)["scale"].parameters
    assert [(p.name, p.type, p.kind, p.size) for p in parameters] == [("a", "float*", "global", 8), ("f", "float", "value", 4)]
    assert program.object.startswith(b"\x7fELF")


def test_techniques_are_switches(gpu):
    text = "kernel void k(global int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n; a[get_global_id(0)] = s; }"
    counts = [one(gpu, text, **t)[64](np.zeros(64, np.int32), 20)["scalar_instructions"]
              for t in ({}, {"no_scalarize": True}, {"scalarize": False})]
    assert counts[0] > 0 and counts[1:] == [0, 0]
    assert one(gpu, text, regfile="single", rename=False)[64](np.zeros(64, np.int32), 2).cycles > 0
    with pytest.raises(heddle.InputError, match="there is no option `regfle`"):
        one(gpu, text, regfle="single")
    with pytest.raises(heddle.InputError, match="regfile"):
        one(gpu, text, regfile="double")


def test_printf(gpu, capsys):
    kernel = one(gpu, r'kernel void hello(int n) { printf("item %d of %d\n", (int)get_global_id(0), n); }')
    run = kernel[2](2)
    assert capsys.readouterr().out == run.printed == "item 0 of 2\nitem 1 of 2\n"
    # A machine's buffer is that of its first launch that prints.
    kernel = one(heddle.Machine(), r'kernel void hello(int n) { printf("item %d of %d\n", (int)get_global_id(0), n); }')
    with pytest.warns(RuntimeWarning, match=r"messages of .* bytes dropped, .*printf_buffer=… sets its size"):
        run = kernel[100](100, printf_buffer=64)
    assert 0 < run.printed.count("\n") < 100


def test_machines(tmp_path, root):
    small = heddle.Machine(root / "machines" / "small.toml") if (root / "machines" / "small.toml").exists() else None
    gpu = heddle.Machine("heddle", warp_size=16, **{"sm.count": 2, "clusters.*.local-registers": 4})
    fields = gpu.fields
    assert (fields["warp-size"], fields["sm.count"], fields["clusters.0.local-registers"]) == (16, 2, 4)
    again = heddle.Machine(gpu.describe())
    assert again.fields == fields
    path = tmp_path / "mine.toml"
    path.write_text(gpu.describe())
    assert heddle.Machine(path).fields == fields == pickle.loads(pickle.dumps(gpu)).fields
    with pytest.raises(heddle.InputError, match="warp-size = 5: must be 8, 16, 32 or 64"):
        heddle.Machine(warp_size=5)
    with pytest.raises(heddle.InputError, match="sm.cuont"):
        heddle.Machine(**{"sm.cuont": 5})
    with pytest.raises(heddle.InputError, match="cannot read the machine description"):
        heddle.Machine(tmp_path / "none.toml")
    assert small is None or small.name


def test_runs(gpu, tmp_path):
    scale = one(gpu, SCALE)
    run = scale[256, 64](np.ones(256, np.float32), 2.0)
    assert run["timing.cycles"] == run["cycles"] == run.cycles
    assert abs(sum(run["energy_pj"] if isinstance(run["energy_pj"], dict) else [run["energy_pj"]]) - run.energy_pj) < 1e-6 * run.energy_pj
    assert run["timing.hierarchy.l2"]["misses"] == run["timing.hierarchy.l2.misses"]
    with pytest.raises(KeyError, match="is `timing.cycles` meant"):
        run["timing.cycle"]
    assert run.statistics()["total"]["instructions"] == run["instructions"]
    assert "instructions a cycle" in run.summary()
    page = run.report(str(tmp_path / "r.html"))
    assert (tmp_path / "r.html").read_text() == page and "get_global_id(0)" in page and "<script" in page
    assert run._repr_html_().startswith("<iframe srcdoc=")
    frame = run.frame()
    assert frame.shape[0] == 1 and frame["cycles"][0] == run.cycles and frame["kernel"][0] == "scale"
    assert set(run) == set(run.keys()) == set(frame.columns) - {"kernel"} and len(run) == len(frame.columns) - 1


def test_instances_of_templates_are_kernels(gpu):
    text = """template <typename T> __global__ void scale(T *a, T f) {
        a[blockIdx.x * blockDim.x + threadIdx.x] *= f;
    }"""
    program = gpu.compile(text, name="scale.cu", kernels=["scale<float>", "scale<int>"])
    assert sorted(program) == ["scale<float>", "scale<int>"]
    for kernel, dtype in (("scale<float>", np.float32), ("scale<int>", np.int32)):
        a = np.arange(64, dtype=dtype)
        program[kernel][64, 32](a, dtype(3))
        np.testing.assert_array_equal(a, np.arange(64, dtype=dtype) * dtype(3))
    with pytest.raises(heddle.CompileError, match="kernel gone<int>"):
        gpu.compile(text, name="scale.cu", kernels=["gone<int>"])


@pytest.mark.skipif(shutil.which("spirv-as") is None, reason="spirv-as is not installed")
def test_spir_v_is_compiled(gpu, tmp_path):
    text = Path(__file__).parents[2] / "tests/lit/spirv/specialised.spvasm"
    binary = tmp_path / "kernel.spv"
    subprocess.run(["spirv-as", "--target-env", "spv1.2", text, "-o", binary], check=True)
    for source in (text, binary, binary.read_bytes()):
        a = np.zeros(4, np.float32)
        try:
            kernel = gpu.compile(source, "--spec=1=5", "--spec=2=false")["k"]
        except heddle.Error as error:
            if "needs Khronos' translator" in str(error):
                pytest.skip(str(error))
            raise
        kernel[4](a)
        np.testing.assert_array_equal(a, np.full(4, 4.5, np.float32))
