// G2, G6: images are surfaces of their own kind; reads are `sample`, queries are words of the argument.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='print<surfaces>' --disable-output %t.ll | FileCheck %s --check-prefix=KIND
// CHECK: "kind":"typed-image"
// The sampler is an argument: 0x38. Coordinates are two (4096) integers: bit 9 beside bit 8; surface 0.
// CHECK: sample.f32 {{[lm]}}[{{[0-9:]+}}], c[0x38], {{[lm]}}[{{[0-9:]+}}], 4864
// Without a sampler: bit 10.
// CHECK: sample.f32 {{.*}}, _, {{.*}}, 5888
// CHECK: stimg.f32 {{.*}}, {{.*}}, 4865
// The coordinate of an image of one dimension is one word (2048); of three, and of an array of planes, four. The third channel
// alone: 32768.
// CHECK: sample.u32 {{[lm][0-9]+}}, _, gid.x, 36608
// CHECK: sample.u32 {{[lm]}}[{{[0-9:]+}}], _, {{[lm]}}[{{[0-9:]+}}], 1793
// KIND: %in: typed image, 2 samples
// KIND: %out: typed image, 1 samples
// KIND-NOT: %s
__kernel void k(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, p, (read_imagef(in, s, p) + read_imagef(in, p)) * (float)get_image_width(in));
}
__kernel void channels(read_only image1d_t line, read_only image2d_array_t layers, __global uint4 *out) {
  int x = get_global_id(0);
  out[x] = read_imageui(line, x).z + read_imageui(layers, (int4)(x, 1, 2, 0));
}
