// G1, G2, G3, G4: the kind of each surface by what is done with it.
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='print<surfaces>' --disable-output %t.ll | FileCheck %s
// CHECK-LABEL: surfaces of kinds:
// CHECK: %typed_buffer: typed buffer, 1 loads, 0 stores, 0 reductions, of {float}
// CHECK: %raw_buffer: raw buffer, 2 loads, 0 stores, 0 reductions, of {float, i16}
// CHECK: %typed_uav: typed UAV, 0 loads, 1 stores, 0 reductions, of {float}
// CHECK: %untyped_uav: untyped UAV, 0 loads, 2 stores, 0 reductions, of {float, i8}
// CHECK: %reduced: typed UAV, 0 loads, 0 stores, 1 reductions, of {i32}
// CHECK: %wide: typed UAV, 1 loads, 1 stores, 0 reductions, of {<16 x i8> as 4 x 32 bits}
// CHECK: %unused: unused
__kernel void kinds(__global const float *typed_buffer, __global const float *raw_buffer, __global float *typed_uav,
                    __global float *untyped_uav, __global int *reduced, __global char16 *wide, __global int *unused) {
  size_t i = get_global_id(0);
  typed_uav[i] = typed_buffer[i] + raw_buffer[i] + ((__global const short *)raw_buffer)[2 * i + 4096];
  untyped_uav[i] = 1.0f;
  ((__global char *)untyped_uav)[4 * i + 4096] = 2;
  atomic_add(&reduced[i], 3);
  wide[i] = wide[i] + (char16)1;
}
// A pointer that may come from two surfaces is of neither; what is written through it still counts.
// CHECK-LABEL: surfaces of either:
// CHECK: %a: untyped UAV, 1 loads, 0 stores, 0 reductions, of {float{{.*}}written through a pointer that may point elsewhere
// CHECK: %b: {{.*}} 0 loads, 0 stores, 0 reductions
__kernel void either(__global float *a, __global float *b, int n) {
  size_t i = get_global_id(0);
  float x = a[i];
  __global float *p = n > 3 ? a : b;
  p[i] = x + 1.0f;
}
