// G2, G6: images are surfaces of their own kind; reads are `sample`, queries are words of the argument.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='print<surfaces>' --disable-output %t.ll | FileCheck %s --check-prefix=KIND
// CHECK: "kind":"typed-image"
// The sampler is an argument: 0x38. Coordinates are integers: bit 9 beside bit 8; surface 0.
// CHECK: sample.f32 {{[lm]}}[{{[0-9:]+}}], c[0x38], {{[lm]}}[{{[0-9:]+}}], 768
// Without a sampler: bit 10.
// CHECK: sample.f32 {{.*}}, 1792
// CHECK: stimg.f32 {{.*}}, {{.*}}, 769
// KIND: %in: typed image, 2 samples
// KIND: %out: typed image, 1 samples
// KIND-NOT: %s
__kernel void k(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, p, (read_imagef(in, s, p) + read_imagef(in, p)) * (float)get_image_width(in));
}
