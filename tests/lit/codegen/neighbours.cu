// The copy of a structure, which clang takes apart into its members, is one access.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// CHECK: .kernel {"name":"structures"
// CHECK: ld.global.b128
// CHECK-NOT: ld.global
// CHECK: st.global.b128
// CHECK-NOT: st.global
struct Body { float4 place; float mass[4]; };
extern "C" __global__ void structures(Body *b, float t) {
  float4 p = b[threadIdx.x].place;
  p.x *= t;
  p.y += t;
  p.z -= t;
  p.w += p.x;
  b[threadIdx.x].place = p;
}
