// Elements that are chosen by number are selects and no branches: of few the number is compared with each, of eight and more its bits choose.
// `shuffle` is made of them.
// RUN: %heddle build %s --stop-after=select -o - | FileCheck %s
// CHECK-LABEL: kernel @four
// CHECK-COUNT-3: cmp.eq.b32
// CHECK-NOT: cmp.
// CHECK-LABEL: kernel @eight
// CHECK-DAG: and.b32 %{{[0-9]+}}, %{{[0-9]+}}, 1
// CHECK-DAG: and.b32 %{{[0-9]+}}, %{{[0-9]+}}, 2
// CHECK-DAG: cmp.ge.u32 {{.*}}, 4
// CHECK-NOT: cmp.eq
// CHECK-NOT: brad
// CHECK-LABEL: kernel @shuffled
// CHECK-NOT: brad
// CHECK: exit
__kernel void four(__global float4 *a, __global const uint *n, __global float *out) {
  int i = get_global_id(0);
  float4 v = a[i] * 3.0f;
  a[i] = v;
  out[i] = v[n[i]];
}

__kernel void eight(__global float8 *a, __global const uint *n, __global float *out) {
  int i = get_global_id(0);
  float8 v = a[i] * 3.0f;
  a[i] = v;
  out[i] = v[n[i]];
}

__kernel void shuffled(__global const uchar8 *a, __global const uchar8 *n, __global uchar8 *out) {
  int i = get_global_id(0);
  out[i] = shuffle2(a[i], a[i + 1], n[i]);
}
