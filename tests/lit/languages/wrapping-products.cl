// The low word of a product of two numbers of 24 bits, and of a sum with the high word of one, wraps around.
// RUN: %heddle build %s --emit ir -o - | FileCheck %s

// CHECK-LABEL: @high
// CHECK: add i32
// CHECK: @llvm.smax.i32
__kernel void high(__global int *p) {
  int v = p[0];
  p[1] = max(v, mad_hi(v, v, v));
}

// CHECK-LABEL: @low
// CHECK: mul i32
// CHECK: add i32
__kernel void low(__global int *p, __global long *q) {
  q[0] = mad24(p[0], p[1], p[2]);
}
