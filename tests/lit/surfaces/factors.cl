// G5: LLVM draws the factor of an index, and the shifts or masks that extend it to 64 bits, together: the offset is affine all the
// same. Three fields of a record, an even place of pairs, and rows of records.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK: .kernel {"name":"records"
// CHECK-NOT: mul
// CHECK: ld.global.b{{32|64}} {{.*}}, [t0]
// CHECK-NOT: mul
// CHECK: st.global.b32{{.*}} [t{{[0-9]}}]
// CHECK-NEXT: exit
__kernel void records(__global float *out, __global const float *in) {
  int g = get_global_id(0);
  out[g] = in[3 * g] + in[3 * g + 1] + in[3 * g + 2];
}

// CHECK: .kernel {"name":"bytes"
// CHECK-NEXT: ld.global.u8 {{.*}}, [t0]
// CHECK: exit
__kernel void bytes(__global float *out, __global const uchar *in) {
  int g = get_global_id(0);
  out[g] = in[3 * g + 1];
}

// CHECK: .kernel {"name":"pairs"
// CHECK-NEXT: ld.global.b32{{.*}}, [t0]
// CHECK-NEXT: st.global.b32{{.*}} [t1]
// CHECK-NEXT: exit
__kernel void pairs(__global float *out, __global const float *in) {
  uint g = get_global_id(0), y = get_global_id(1);
  out[g] = in[(g * 2 + y) * 2];
}

// A mask that takes bits away is no factor.
// CHECK: .kernel {"name":"masked"
// CHECK: and.b32 {{.*}}, -8
// CHECK: exit
__kernel void masked(__global float *out, __global const float *in) {
  uint g = get_global_id(0);
  out[g] = in[(g * 2) & 0xfffffff8u];
}
