//! The library's interface, and built-in functions by way of it.

use heddle::{Device, Error, LocalMemory, Mode, NdRange, Program};

/// Saturation in 128 bits is the reference. libclc's own `mad_sat` gave LONG_MIN for (0, -1, 4); random programs on PoCL showed it.
#[test]
fn mad_sat_of_long_saturates_only_what_overflows() {
    const LANES: usize = 16;
    let interesting =
        [0, 1, -1, 2, -2, 4, 3_037_000_500, -3_037_000_500, 1 << 32, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1];
    let mut inputs = Vec::new();
    for x in interesting {
        for y in interesting {
            inputs.extend(interesting.map(|z| (x, y, z)));
        }
    }
    inputs.resize(inputs.len().next_multiple_of(LANES), (0, 0, 0));
    let wide = |(x, y, z): (i64, i64, i64)| i128::from(x) * i128::from(y) + i128::from(z);
    let expected: Vec<i64> = inputs.iter().map(|i| wide(*i).clamp(i64::MIN.into(), i64::MAX.into()) as i64).collect();
    for width in [1, 2, 3, 4, 8, 16usize] {
        let (ty, suffix) = if width == 1 { ("long".into(), String::new()) } else { (format!("long{width}"), width.to_string()) };
        let load = |p: &str| if width == 1 { format!("{p}[i]") } else { format!("vload{suffix}(i, {p})") };
        let value = format!("mad_sat({}, {}, {})", load("x"), load("y"), load("z"));
        let store = if width == 1 { "o[i] = v;".into() } else { format!("vstore{suffix}(v, i, o);") };
        let source = format!(
            "__kernel void k(__global const long *x, __global const long *y, __global const long *z, __global long *o) {{
                size_t i = get_global_id(0); {ty} v = {value}; {store} }}"
        );
        let mut device = Device::default().with_mode(Mode::Functional);
        let program = Program::compile(&device, &source).unwrap();
        let column = |f: fn(&(i64, i64, i64)) -> i64| inputs.iter().map(f).collect::<Vec<i64>>();
        let x = device.buffer(&column(|i| i.0)).unwrap();
        let y = device.buffer(&column(|i| i.1)).unwrap();
        let z = device.buffer(&column(|i| i.2)).unwrap();
        let out = device.zeros::<i64>(inputs.len()).unwrap();
        let items = inputs.len() / width;
        program.kernel("k").unwrap().launch(&mut device, items as u64, &[&x, &y, &z, &out]).unwrap();
        let found = device.read(&out).unwrap();
        for i in 0..items * width {
            assert_eq!(found[i], expected[i], "mad_sat{:?} of {ty}", inputs[i]);
        }
    }
}

const SUM: &str = "
__constant int one[1] = {1};
__kernel void sum(__global const int *in, __global int *out, __local int *room, int2 add) {
    size_t l = get_local_id(0);
    room[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        int s = add.x + add.y * one[0];
        for (size_t i = 0; i < get_local_size(0); i++) s += room[i];
        out[get_group_id(0)] = s;
    }
}";

/// Launches one after the other, with writes of the host between them, in both modes; caches must not keep what the host overwrote.
#[test]
fn launches_see_what_the_host_wrote_between_them() {
    for mode in [Mode::Functional, Mode::Timing] {
        let mut device = Device::default().with_mode(mode);
        let program = Program::compile(&device, SUM).unwrap();
        let kernel = program.kernel("sum").unwrap();
        let input = device.buffer(&[1i32; 100]).unwrap();
        let out = device.zeros::<i32>(4).unwrap();
        let range = NdRange::new(&[100]).local(&[32]);
        for round in 1..4 {
            device.write(&input, &[round; 100]).unwrap();
            let arguments: [&dyn heddle::KernelArgument; 4] = [&input, &out, &LocalMemory(32 * 4), &[1000i32, 5]];
            let statistics = kernel.launch(&mut device, range.clone(), &arguments).unwrap();
            let expected = [32, 32, 32, 4].map(|n| n * round + 1005);
            assert_eq!(device.read(&out).unwrap(), expected, "{mode:?}");
            assert_eq!(statistics.work_groups, 4);
            assert_eq!(statistics.cycles().is_some(), mode == Mode::Timing);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (mut device, mut other) = (Device::default(), Device::default());
    let program = Program::compile(&device, SUM).unwrap();
    let kernel = program.kernel("sum").unwrap();
    let (here, there) = (device.zeros::<i32>(64).unwrap(), other.zeros::<i32>(64).unwrap());
    let room = LocalMemory(256);
    let mut launch = |arguments: &[&dyn heddle::KernelArgument]| kernel.launch(&mut device, 64, arguments).unwrap_err();
    assert!(matches!(launch(&[&here, &there, &room, &[1i32, 2]]), Error::OtherDevice(_)));
    let e = launch(&[&here, &here, &room, &1i32]);
    assert!(e.to_string().contains("argument 3 (`int2 add`)"), "{e}");
    let e = launch(&[&here, &here, &room, &[1f32, 2.0]]);
    assert!(e.to_string().contains("gets floating-point bits"), "{e}");
    let e = launch(&[&here, &here, &here, &[1i32, 2]]);
    assert!(e.to_string().contains("is a local pointer"), "{e}");
    let e = kernel.launch(&mut device, [1, 1, 1, 1], &[]).unwrap_err();
    assert!(e.to_string().contains("4 dimensions"), "{e}");
    assert!(matches!(device.write(&here, &[1]), Err(Error::Length { expected: 64, given: 1 })));
    assert!(matches!(device.read(&there), Err(Error::OtherDevice(_))));
    assert!(matches!(device.zeros::<u64>(1 << 60), Err(Error::OutOfMemory(_))));
    assert!(matches!(Program::from_object(b"no object"), Err(Error::Object(_))));
}

/// LLVM's optimiser regroups bits into vectors of bits and back; selection has no such values but predicates.
#[test]
fn vectors_of_bits_are_integers() {
    let text = r#"
define spir_kernel void @k(ptr addrspace(1) %a) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr i32, ptr addrspace(1) %a, i64 %id
  %x = load i32, ptr addrspace(1) %p
  %low = trunc i32 %x to i16
  %bits = bitcast i16 %low to <16 x i1>
  %turned = shufflevector <16 x i1> %bits, <16 x i1> poison, <16 x i32> <i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %y = bitcast <16 x i1> %turned to i16
  %wide = bitcast i32 %x to <32 x i1>
  %inverted = xor <32 x i1> %wide, splat (i1 true)
  %high = bitcast <32 x i1> %inverted to i32
  %z = zext i16 %y to i32
  %kept = and i32 %high, -65536
  %r = or i32 %z, %kept
  store i32 %r, ptr addrspace(1) %p
  ret void
}
declare i64 @_Z13get_global_idj(i32)
"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bits.ll");
    std::fs::write(&path, text).unwrap();
    let mut device = Device::default();
    let values: Vec<u32> = (0..64u32).map(|i| i.wrapping_mul(2_654_435_761) ^ i << 3).collect();
    let a = device.buffer(&values).unwrap();
    let program = Program::compile_files(&device, &[path], &Default::default()).unwrap();
    program.kernel("k").unwrap().launch(&mut device, 64, &[&a]).unwrap();
    let expected: Vec<u32> = values.iter().map(|x| u32::from((*x as u16).reverse_bits()) | !x & 0xffff_0000).collect();
    assert_eq!(device.read(&a).unwrap(), expected);
}
