// Sine and cosine of one angle reduce it once, also where the second one is wanted under a condition; functions of constants are
// constants; and a function of the library in a loop is no reason not to unroll it.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit asm -O0 -o - | FileCheck %s --check-prefix=O0
// RUN: %heddle run %s --kernel both --global 3 --mode functional --arg a=%S/Inputs/angles.npy --arg o=zeros:float32:3,expect=%S/Inputs/sums.npy,atol=2e-7 --arg i32=1

// The reduction of large angles is an integer product.
// CHECK: .kernel {"name":"both"
// CHECK: mulhi.u32 {{.*}}0xfe5163ab
// CHECK-NOT: mulhi.u32 {{.*}}0xfe5163ab
// CHECK: .kernel {"name":"sometimes"
// CHECK: mulhi.u32 {{.*}}0xfe5163ab
// CHECK-NOT: mulhi.u32 {{.*}}0xfe5163ab
// CHECK: .kernel {"name":"constants"
// CHECK-NOT: {{round|cvt|brad}}
// CHECK: mul.f32 {{.*}}0x3f6c835e
// CHECK-NOT: {{round|cvt|brad}}
// CHECK: .kernel {"name":"dot_product"
// CHECK: [[LOOP:L[0-9]+]]:
// CHECK: fma.f32
// CHECK: fma.f32
// CHECK: bras{{.*}} [[LOOP]]
// O0: mulhi.u32 {{.*}}0xfe5163ab
kernel void both(global const float *a, global float *o, int n) {
  int i = get_global_id(0);
  o[i] = sin(a[i]) + cos(a[i]) * n;
}
kernel void sometimes(global const float *a, global float *o, int n) {
  int i = get_global_id(0);
  float c = cos(a[i]);
  o[i] = n & 1 ? sin(a[i]) + c : c;
}
kernel void constants(global float *o) {
  o[get_global_id(0)] *= cos(0.39269908f);
}
kernel void dot_product(global const float *a, global const float *b, global float *o, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++)
    sum = fma(a[i], b[i], sum);
  o[get_global_id(0)] = sum;
}
