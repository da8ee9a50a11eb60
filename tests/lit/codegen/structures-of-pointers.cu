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
// Where it is copied to an array that data index, the run shows where its pointers point.
// CHECK: .kernel {"name":"copied"
// CHECK: st.private.b64
// CHECK: {{ld|st}}.global.b32
// CHECK: exit
extern "C" __global__ void copied(Arrays s, Arrays t, int n) {
  Arrays both[2] = {s, t};
  int i = threadIdx.x;
  both[n & 1].a[i] = both[i & 1].a[i] * 2;
}
// The address of one of two.
// CHECK: .kernel {"name":"chosen"
// CHECK: ld.global.b32
// CHECK: st.global.b32
// CHECK: exit
extern "C" __global__ void chosen(Arrays s, Arrays t, int n) {
  Arrays *v = n ? &s : &t;
  v->a[threadIdx.x] *= 2;
}
