// Accesses of neighbouring words are one access, as wide as their alignment allows: clang takes the load of a vector apart whose
// elements are used one by one.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle run %s --kernel four --global 33 --arg a=random:float32:33x4,seed=3,save=%t.npy --mode functional
// CHECK: .kernel {"name":"four"
// CHECK: ld.global.b128
// CHECK-NOT: ld.global
kernel void four(global float4 *a) {
  float4 v = a[get_global_id(0)];
  a[get_global_id(0)] = (float4)(v.x * 2, v.y * 3, v.z * 4, v.w * 5);
}
// CHECK: .kernel {"name":"two"
// CHECK: ld.global.b64
// CHECK-NOT: ld.global
kernel void two(global const float4 *a, global float *o) {
  float4 v = a[get_global_id(0)];
  o[get_global_id(0)] = v.z * v.w;
}
// Floats may lie at any multiple of four bytes.
// CHECK: .kernel {"name":"unaligned"
// CHECK: ld.global.b32
// CHECK: ld.global.b32
kernel void unaligned(global const float *a, global float *o) {
  o[get_global_id(0)] = a[2 * get_global_id(0)] * a[2 * get_global_id(0) + 1];
}
// A store between that may be to the same place.
// CHECK: .kernel {"name":"between"
// CHECK: ld.global.b32
// CHECK: st.global.b32
// CHECK: ld.global.b32
kernel void between(global float2 *a, global float *o) {
  float x = a[get_global_id(0)].x;
  o[get_global_id(0)] = x;
  o[get_global_id(0)] = a[get_global_id(0)].y;
}
