// Powers of exponents that the compiler knows are products, reciprocals and roots, for vectors too; others are not.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit asm -O0 -o - | FileCheck %s
// RUN: %heddle run %s --kernel powers --global 9 --mode functional --arg a=%S/Inputs/bases.npy --arg o=zeros:float32:9x4,expect=%S/Inputs/powers.npy,rtol=4e-7

// CHECK: .kernel {"name":"square"
// CHECK-NOT: {{brad|round}}
// CHECK-COUNT-4: mul.f32
// CHECK-NOT: mul
// CHECK: .kernel {"name":"powers"
// CHECK-NOT: brad
// CHECK: .kernel {"name":"known_later"
// CHECK-NOT: {{brad|round}}
// CHECK: .kernel {"name":"unknown"
// CHECK-COUNT-9: fma.f32
kernel void square(global float4 *a) { a[get_global_id(0)] = pow(a[get_global_id(0)], (float4)(2.0f)); }
kernel void powers(global const float *a, global float *o) {
  float x = a[get_global_id(0)];
  global float *to = o + 4 * get_global_id(0);
  to[0] = pow(x, 3.0f);
  to[1] = pow(x, -2.0f);
  to[2] = pow(x, 0.5f);
  to[3] = pown(x, 7);
}
float of(float x, int n) { return pown(x, n - 1); }
kernel void known_later(global float *a) { a[get_global_id(0)] = of(a[get_global_id(0)], 4); }
kernel void unknown(global float *a, float y) { a[get_global_id(0)] = pow(a[get_global_id(0)], y); }
