// Pointers in a structure that a kernel is given by value come from the host, and are global.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit asm -O0 -o - | FileCheck %s
struct Arrays { float *a; float *rows[3]; int n; float k; };
// CHECK: .kernel {"name":"product"
// CHECK-NOT: {{private|local|generic}}.b32
// CHECK: ld.global.b32
// CHECK-NOT: {{private|local}}.b32
// CHECK: st.global.b32
// CHECK-NOT: {{private|local}}.b32
// CHECK: exit
extern "C" __global__ void product(Arrays s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n)
    s.rows[1][i] = s.a[i] * s.k;
}
