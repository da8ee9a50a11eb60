// Vectors that a program computes with are taken apart, so that the elements that do not change in a loop are not computed in it. Those that are only
// loaded and stored stay, and so do all of a module in which an element is chosen by number.
// RUN: %heddle build %s --emit ir -o - | FileCheck %s

// CHECK-LABEL: @clamped(
// CHECK-NOT: <4 x i32>
// CHECK: for.body.preheader:
// CHECK: call i32 @llvm.smax.i32(i32 {{.*}}, i32 6)
// CHECK: for.body:
// CHECK: call i32 @llvm.smax.i32(i32 {{.*}}, i32 5)
// CHECK-NOT: smax
// CHECK: br i1
__kernel void clamped(__global const float *in, __global float *out, int w, int h, int n) {
  float sum = 0;
  int4 at = (int4)(get_global_id(0), get_global_id(1), 0, 0);
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    int4 place = max(at + (int4)(i, 0, 0, 0), (int4)(5, 6, 0, 0));
    sum += in[place.x + w * place.y];
  }
  out[get_global_id(1) * w + get_global_id(0)] = sum;
}
