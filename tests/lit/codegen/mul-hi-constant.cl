// The upper half of a product of constants: libclc's function overflows in signed arithmetic, of which LLVM made nonsense. Found by a random program.
// RUN: %heddle build %s --emit ir -o - | FileCheck %s
// CHECK: store volatile i64 0,
// CHECK: store volatile i64 0,
// CHECK: store volatile i64 -9007199254773759,
// CHECK: store volatile i64 4611686018427387904,
__kernel void k(__global volatile long *a) {
  a[0] = mul_hi(-1L, -1L);
  a[1] = mul_hi(-100L, ~0x40000000000000L ^ 65533);
  a[2] = mul_hi(LONG_MAX, ~0x40000000000000L ^ 65533);
  long2 v = mul_hi((long2)(LONG_MIN, 3), (long2)(LONG_MIN, 5));
  a[3] = v.x;
}
