//! Memory: copies, maps, sub-buffers, images, shared virtual memory.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use opencl_sys::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::host::{Host, number, set};
use crate::{cl, new, ok};

#[test]
fn maps_show_memory_and_take_it_back() {
    let host = Host::new();
    let kernel = host.kernel("kernel void twice(global int* a) { a[get_global_id(0)] *= 2; }", c"twice");
    let mut own: Vec<i32> = (0..256).collect();
    let pointer = own.as_mut_ptr();
    let using = new!(clCreateBuffer(host.context, CL_MEM_USE_HOST_PTR, 1024, pointer.cast()));
    for (buffer, uses) in [(host.buffer(&own), false), (using, true)] {
        set(kernel, 0, buffer);
        ok!(clReleaseEvent(host.launch(host.queue, kernel, 256, &[])));
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        let map = new!(clEnqueueMapBuffer(host.queue, buffer, CL_TRUE, flags, 40, 400, 0, null(), null_mut(),));
        let mapped = map.cast::<i32>();
        assert!(!uses || mapped == pointer.wrapping_add(10), "a map of the program's memory is in it");
        let count = || number::<cl_uint>(|size, to, got| cl!(clGetMemObjectInfo(buffer, CL_MEM_MAP_COUNT, size, to, got)));
        assert_eq!(count(), 1);
        for i in 0..100 {
            assert_eq!(unsafe { mapped.add(i).read() }, 2 * (i as i32 + 10));
            unsafe { mapped.add(i).write(-1) };
        }
        ok!(clEnqueueUnmapMemObject(host.queue, buffer, map, 0, null(), null_mut()));
        ok!(clReleaseEvent(host.launch(host.queue, kernel, 256, &[])));
        let result = host.read::<i32>(buffer, 256);
        let expected = |i: i32| if (10..110).contains(&i) { -2 } else { 4 * i };
        assert!((0..256).all(|i| result[i as usize] == expected(i)));
        assert_eq!(count(), 0);
        let code = cl!(clEnqueueUnmapMemObject(host.queue, buffer, map, 0, null(), null_mut()));
        assert_eq!(code, CL_INVALID_VALUE, "it is not mapped any more");
        ok!(clReleaseMemObject(buffer));
    }
    ok!(clReleaseKernel(kernel));
}

/// A box of bytes in two buffers with pitches.
#[derive(Clone, Debug)]
struct Rectangle {
    region: [usize; 3],
    origins: [[usize; 3]; 2],
    row_pitches: [usize; 2],
    slice_pitches: [usize; 2],
}

impl Rectangle {
    fn bytes(&self, side: usize) -> usize {
        (self.origins[side][2] + self.region[2]) * self.slice_pitches[side]
    }

    fn at(&self, side: usize, [x, y, z]: [usize; 3]) -> usize {
        let [a, b, c] = self.origins[side];
        (c + z) * self.slice_pitches[side] + (b + y) * self.row_pitches[side] + a + x
    }

    /// The slow way.
    fn copy(&self, from: &[u8], to: &mut [u8]) {
        let [width, height, depth] = self.region;
        for z in 0..depth {
            for y in 0..height {
                (0..width).for_each(|x| to[self.at(1, [x, y, z])] = from[self.at(0, [x, y, z])]);
            }
        }
    }
}

prop_compose! {
    fn rectangles()(
        region in [1usize..40, 1usize..7, 1usize..5],
        origins in [[0usize..9, 0usize..4, 0usize..3], [0usize..9, 0usize..4, 0usize..3]],
        beside in [0usize..6, 0usize..6],
        below in [0usize..3, 0usize..3],
    ) -> Rectangle {
        let row = |side: usize| origins[side][0] + region[0] + beside[side];
        let slice = |side: usize| row(side) * (origins[side][1] + region[1] + below[side]);
        let both = |f: &dyn Fn(usize) -> usize| [f(0), f(1)];
        Rectangle { region, origins, row_pitches: both(&row), slice_pitches: both(&slice) }
    }
}

fn pattern(bytes: usize, factor: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * factor + i / 251) as u8).collect()
}

#[test]
fn rectangles_are_copied_as_written() {
    let host = Host::new();
    let run = |r: Rectangle| {
        let (from, to) = (pattern(r.bytes(0), 7), pattern(r.bytes(1), 13));
        let mut expected = to.clone();
        r.copy(&from, &mut expected);
        let [rows, slices] = [r.row_pitches, r.slice_pitches];
        let [first, second, region] = [r.origins[0].as_ptr(), r.origins[1].as_ptr(), r.region.as_ptr()];
        let (source, target, written) = (host.buffer(&from), host.buffer(&to), host.buffer(&to));
        ok!(clEnqueueCopyBufferRect(
            host.queue,
            source,
            target,
            first,
            second,
            region,
            rows[0],
            slices[0],
            rows[1],
            slices[1],
            0,
            null(),
            null_mut(),
        ));
        prop_assert_eq!(&host.read::<u8>(target, to.len()), &expected);
        let data = from.as_ptr().cast();
        ok!(clEnqueueWriteBufferRect(
            host.queue,
            written,
            CL_TRUE,
            second,
            first,
            region,
            rows[1],
            slices[1],
            rows[0],
            slices[0],
            data,
            0,
            null(),
            null_mut(),
        ));
        prop_assert_eq!(&host.read::<u8>(written, to.len()), &expected);
        let mut read = to.clone();
        let data = read.as_mut_ptr().cast();
        ok!(clEnqueueReadBufferRect(
            host.queue,
            source,
            CL_TRUE,
            first,
            second,
            region,
            rows[0],
            slices[0],
            rows[1],
            slices[1],
            data,
            0,
            null(),
            null_mut(),
        ));
        prop_assert_eq!(&read, &expected);
        [source, target, written].iter().for_each(|b| ok!(clReleaseMemObject(*b)));
        Ok(())
    };
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(300) }).run(&rectangles(), run).unwrap();
}

#[test]
fn fills_repeat_their_pattern() {
    let host = Host::new();
    let run = |(power, skipped, count): (u32, usize, usize)| {
        let size = 1usize << power;
        let fill = pattern(size, 11);
        let mut expected = pattern(128 * 24, 3);
        let buffer = host.buffer(&expected);
        let (offset, bytes) = (skipped * size, count * size);
        ok!(clEnqueueFillBuffer(host.queue, buffer, fill.as_ptr().cast(), size, offset, bytes, 0, null(), null_mut()));
        expected[offset..offset + bytes].iter_mut().enumerate().for_each(|(i, b)| *b = fill[i % size]);
        prop_assert_eq!(host.read::<u8>(buffer, expected.len()), expected);
        ok!(clReleaseMemObject(buffer));
        Ok(())
    };
    let cases = (0u32..=7, 0usize..8, 1usize..16);
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(100) }).run(&cases, run).unwrap();
}

fn part(buffer: cl_mem, origin: usize, size: usize) -> cl_mem {
    let region = cl_buffer_region { origin, size };
    new!(clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast()))
}

#[test]
fn sub_buffers_are_windows_on_one_memory() {
    let host = Host::new();
    // What one launch writes through one of them the next one reads through another, also where lines of caches
    // and values that the compiler takes for constant would keep what was there.
    let source = "kernel void shift(global const int* restrict from, global int* restrict to) {
                      size_t i = get_global_id(0); to[i] = from[i] + from[0] * 0 + 1; }";
    let kernel = host.kernel(source, c"shift");
    let buffer = host.buffer(&[0i32; 1024]);
    let windows: Vec<cl_mem> = (0..4).map(|i| part(buffer, 512 * i, 1024)).collect();
    let mut model = [0i32; 1024];
    for step in 0..40usize {
        // Regions two windows apart do not overlap: 256 values of 128 apart.
        let (from, to) = ([0, 2, 1, 3][step % 4], [2, 0, 3, 1][step % 4]);
        set(kernel, 0, windows[from]);
        set(kernel, 1, windows[to]);
        ok!(clReleaseEvent(host.launch(host.queue, kernel, 256, &[])));
        let read: Vec<i32> = model[128 * from..][..256].to_vec();
        model[128 * to..][..256].iter_mut().zip(read).for_each(|(m, r)| *m = r + 1);
    }
    assert_eq!(host.read::<i32>(buffer, 1024), model);
    assert_eq!(host.read::<i32>(windows[3], 256), model[384..640]);
    let code = cl!(clEnqueueCopyBuffer(host.queue, windows[0], windows[1], 0, 0, 1024, 0, null(), null_mut()));
    assert_eq!(code, CL_MEM_COPY_OVERLAP);
    // A window keeps the memory.
    ok!(clReleaseMemObject(buffer));
    assert_eq!(host.read::<i32>(windows[0], 256), model[..256]);
    windows.iter().for_each(|w| ok!(clReleaseMemObject(*w)));
    ok!(clReleaseKernel(kernel));
}

#[test]
fn shared_memory_has_pointers_in_structures() {
    #[repr(C)]
    struct Node {
        value: i32,
        next: *mut Node,
        data: *mut i32,
    }
    let host = Host::new();
    let source = "typedef struct node { int value; global struct node* next; global int* data; } node;
                  kernel void walk(global node* n) { int s = 0; for (; n; n = n->next) { s += n->value; n->data[0] = s; } }";
    let kernel = host.kernel(source, c"walk");
    let allocate = |bytes| {
        let pointer = cl!(clSVMAlloc(host.context, CL_MEM_READ_WRITE, bytes, 0));
        assert!(!pointer.is_null());
        ok!(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_WRITE, pointer, bytes, 0, null(), null_mut()));
        pointer
    };
    let nodes: Vec<*mut Node> = (0..10).map(|_| allocate(size_of::<Node>()).cast()).collect();
    let data: Vec<*mut i32> = (0..10).map(|_| allocate(4).cast()).collect();
    for (i, node) in nodes.iter().enumerate() {
        let next = nodes.get(i + 1).copied().unwrap_or(null_mut());
        unsafe { node.write(Node { value: i as i32 + 1, next, data: data[i] }) };
    }
    let all: Vec<*mut c_void> = nodes.iter().map(|n| n.cast()).chain(data.iter().map(|d| d.cast())).collect();
    for pointer in &all {
        ok!(clEnqueueSVMUnmap(host.queue, *pointer, 0, null(), null_mut()));
    }
    ok!(clSetKernelArgSVMPointer(kernel, 0, nodes[0].cast()));
    ok!(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, size_of_val(&all[..]), all.as_ptr().cast()));
    ok!(clReleaseEvent(host.launch(host.queue, kernel, 1, &[])));
    let mut sums = [0i32; 10];
    for (sum, from) in sums.iter_mut().zip(&data) {
        ok!(clEnqueueSVMMemcpy(host.queue, CL_TRUE, (&raw mut *sum).cast(), from.cast(), 4, 0, null(), null_mut()));
    }
    assert_eq!(sums, [1, 3, 6, 10, 15, 21, 28, 36, 45, 55]);
    all.iter().for_each(|p| cl!(clSVMFree(host.context, *p)));
    ok!(clReleaseKernel(kernel));
}

#[test]
fn images_have_pitches_only_for_the_host() {
    let host = Host::new();
    let (width, height, depth) = (5usize, 4usize, 3usize);
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };
    // What the bindings call an image's description has no `Default`; zeros are one.
    let mut desc: cl_image_desc = unsafe { std::mem::zeroed() };
    (desc.image_type, desc.image_width, desc.image_height, desc.image_depth) = (CL_MEM_OBJECT_IMAGE3D, width, height, depth);
    let image = new!(clCreateImage(host.context, CL_MEM_READ_WRITE, &raw const format, &raw const desc, null_mut()));
    let (row, slice) = (31usize, 160usize);
    let bytes = pattern(slice * depth, 5);
    let (origin, region) = ([0usize; 3], [width, height, depth]);
    let data = bytes.as_ptr().cast();
    ok!(clEnqueueWriteImage(
        host.queue,
        image,
        CL_TRUE,
        origin.as_ptr(),
        region.as_ptr(),
        row,
        slice,
        data,
        0,
        null(),
        null_mut(),
    ));
    let at = |x: usize, y: usize, z: usize, row: usize, slice: usize| 4 * x + row * y + slice * z;
    // A kernel sees the texels.
    let source = "kernel void get(read_only image3d_t i, global uchar4* to) {
                      int4 p = (int4)(get_global_id(0) % 5, get_global_id(0) / 5 % 4, get_global_id(0) / 20, 0);
                      to[get_global_id(0)] = convert_uchar4(read_imageui(i, p)); }";
    let (kernel, texels) = (host.kernel(source, c"get"), host.room(width * height * depth * 4));
    set(kernel, 0, image);
    set(kernel, 1, texels);
    ok!(clReleaseEvent(host.launch(host.queue, kernel, width * height * depth, &[])));
    let seen = host.read::<u8>(texels, width * height * depth * 4);
    // So does a copy, and a read of a part with other pitches.
    let copied = host.room(seen.len());
    ok!(clEnqueueCopyImageToBuffer(host.queue, image, copied, origin.as_ptr(), region.as_ptr(), 0, 0, null(), null_mut(),));
    assert_eq!(host.read::<u8>(copied, seen.len()), seen);
    let (part, from, part_row, part_slice) = ([2usize, 3, 2], [1usize, 1, 1], 12usize, 48usize);
    let mut read = vec![0u8; part_slice * 2];
    let to = read.as_mut_ptr().cast();
    ok!(clEnqueueReadImage(
        host.queue,
        image,
        CL_TRUE,
        from.as_ptr(),
        part.as_ptr(),
        part_row,
        part_slice,
        to,
        0,
        null(),
        null_mut(),
    ));
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                let texel = &bytes[at(x, y, z, row, slice)..][..4];
                assert_eq!(&seen[at(x, y, z, 4 * width, 4 * width * height)..][..4], texel);
                let inside = (1..3).contains(&x) && y >= 1 && z >= 1;
                assert!(!inside || &read[at(x - 1, y - 1, z - 1, part_row, part_slice)..][..4] == texel, "{x} {y} {z}");
            }
        }
    }
    [image, texels, copied].iter().for_each(|m| ok!(clReleaseMemObject(*m)));
    ok!(clReleaseKernel(kernel));
}

/// An image of one texel of this colour.
fn dot(host: &Host, colour: u8) -> cl_mem {
    let format = cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_UNSIGNED_INT8 };
    let mut desc: cl_image_desc = unsafe { std::mem::zeroed() };
    (desc.image_type, desc.image_width, desc.image_height) = (CL_MEM_OBJECT_IMAGE2D, 1, 1);
    let (flags, texel) = (CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, [colour; 4]);
    new!(clCreateImage(host.context, flags, &raw const format, &raw const desc, texel.as_ptr().cast_mut().cast()))
}

/// A limit of the device.
fn limit<T: Default>(host: &Host, name: cl_device_info) -> T {
    number(|size, to, got| cl!(clGetDeviceInfo(host.device, name, size, to, got)))
}

#[test]
fn kernels_take_as_many_arguments_as_the_device_says() {
    let host = Host::new();
    let out = host.room(8 * 200);
    // Beside the pointer. The specification asks for 128 images and 1024 bytes.
    let images: u32 = limit(&host, CL_DEVICE_MAX_READ_IMAGE_ARGS);
    assert!(images >= 128, "{images}");
    let parameters: String = (0..images).map(|i| format!("read_only image2d_t i{i}, ")).collect();
    let sum = |range: std::ops::Range<u32>| -> String {
        range.map(|i| format!("sum += read_imageui(i{i}, (int2)(0)).x + get_image_height(i{i});\n")).collect()
    };
    // Each store would have a surface of its own; with images there are more than 256.
    let stores: String = (1..120).map(|i| format!("out[get_global_id(0) * 200 + {i}] = sum;\n")).collect();
    let (first, second) = (sum(0..images / 2), sum(images / 2..images));
    let source =
        format!("kernel void f({parameters}global ulong *out) {{ ulong sum = 0; {first} {stores} {second} *out = sum; }}");
    let kernel = host.kernel(&source, c"f");
    let dots: Vec<cl_mem> = (0..images).map(|i| dot(&host, i as u8)).collect();
    dots.iter().enumerate().for_each(|(i, image)| set(kernel, i as u32, *image));
    set(kernel, images, out);
    ok!(clReleaseEvent(host.launch(host.queue, kernel, 1, &[])));
    assert_eq!(host.read::<u64>(out, 1), [(0..u64::from(images)).map(|i| i % 256 + 1).sum::<u64>()]);
    dots.iter().for_each(|image| ok!(clReleaseMemObject(*image)));

    let bytes: usize = limit(&host, CL_DEVICE_MAX_PARAMETER_SIZE);
    assert!(bytes >= 1024, "{bytes}");
    let numbers = (bytes / 8 - 1) as u32;
    let parameters: String = (0..numbers).map(|i| format!("ulong n{i}, ")).collect();
    let sum: String = (0..numbers).map(|i| format!("sum = sum * 3 + n{i};\n")).collect();
    let source = format!("kernel void f({parameters}global ulong *out) {{ ulong sum = 0; {sum} *out = sum; }}");
    let kernel = host.kernel(&source, c"f");
    let value = |i: u32| u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..numbers).for_each(|i| set(kernel, i, value(i)));
    set(kernel, numbers, out);
    ok!(clReleaseEvent(host.launch(host.queue, kernel, 1, &[])));
    let expected = (0..numbers).fold(0u64, |sum, i| sum.wrapping_mul(3).wrapping_add(value(i)));
    assert_eq!(host.read::<u64>(out, 1), [expected]);

    // What aligns the first one does not count.
    let parameters: Vec<String> = (0..bytes / 16).map(|i| format!("float4 v{i}")).collect();
    host.kernel(&format!("kernel void f({}) {{}}", parameters.join(", ")), c"f");

    // One more does not fit, and the program's log says so.
    let program = host.source(&source.replace("global ulong *out", "ulong more, global ulong *out"));
    assert_eq!(host.build(program, c""), CL_BUILD_PROGRAM_FAILURE);
    let log = host.log(program);
    assert!(log.contains(&format!("takes {} bytes of arguments; {bytes} are the most", bytes + 8)), "{log}");
}
