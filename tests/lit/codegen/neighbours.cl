// Accesses of neighbouring words are one access: clang takes the load of a vector apart whose elements are used one by one. Where the
// machine performs vectors at multiples of their size only, it is as wide as their alignment allows.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefixes=CHECK,ANYWHERE
// RUN: %heddle build %s --set memory.unaligned-vectors=false --emit asm -o - | FileCheck %s --check-prefixes=CHECK,ALIGNED
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
// ANYWHERE-SAME: "unaligned_vectors":true
// ANYWHERE: ld.global.b64
// ALIGNED: ld.global.b32
// ALIGNED: ld.global.b32
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
// The next lane reads what this one would: each word comes once.
// CHECK: .kernel {"name":"row"
// CHECK: ld.global.b32
// CHECK: ld.global.b32
// CHECK: ld.global.b32
kernel void row(global const float *a, global float *o) {
  size_t i = get_global_id(0);
  o[i] = a[i] + a[i + 1] * a[i + 2];
}
// A vector at any float, and one whose bytes say nothing.
// CHECK: .kernel {"name":"vectors"
// ANYWHERE: ld.global.b128
// ALIGNED: ld.global.b32
// ANYWHERE: st.global.b128
// ALIGNED: st.global.b32
kernel void vectors(global const float *a, global const uchar *b, global float *o, int at) {
  size_t i = get_global_id(0);
  vstore4(vload4(i, a + at) + convert_float4(vload4(i, b + at)), i, o + at);
}
