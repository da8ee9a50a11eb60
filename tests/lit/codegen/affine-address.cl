// DESIGN 4: a uniform base, a 32-bit offset and an immediate; no 64-bit arithmetic is left.
// RUN: %heddle build %s --regfile=single --no-schedule --no-global-id --emit asm -o - | FileCheck %s
// CHECK: shl.b32 [[O:m[0-9]+]], gid.x, 2
// CHECK-NOT: b64
// CHECK: ld.global.b32.cs {{m[0-9]+}}, [c[0x10] + u32 [[O]] + 8]
// CHECK: st.global.b32 [c[0x8] + u32 [[O]]]
__kernel void k(__global float *a, __global const float *b) {
  size_t i = get_global_id(0);
  a[i] = b[i + 2] * 2.0f;
}
