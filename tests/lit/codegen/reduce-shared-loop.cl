// Work-items that share a loop's iterations have few each: there a product, a sum and a shift less pay for a step that is to be
// computed, one less does not; the shift goes out of the loop. A loop that counts has many, and steps by a number.
// The counter of 64 bits that size_t makes of the first is the same as that of 32.
// RUN: %heddle build %s --stop-after cleanup -o - | FileCheck %s

// CHECK: kernel @shared
// CHECK: phi.b32
// CHECK-NOT: phi.b32
// CHECK: mad.b32
// CHECK-NEXT: ld.global.b32
__kernel void shared(__global const float *in, __global float *out, uint n, uint pitch, uint start) {
#pragma unroll 1
  for (uint i = get_local_id(0); i < n; i += get_local_size(0))
    out[i] = in[i * pitch + start];
}

// CHECK: kernel @counted
// CHECK: phi.b32
// CHECK: phi.b32
// CHECK-NOT: mad.b32
// CHECK: ld.global.b32
__kernel void counted(__global const float *in, __global float *out, uint n, uint pitch, uint start) {
  float sum = 0;
#pragma unroll 1
  for (uint i = 0; i < n; ++i)
    sum += in[i * pitch + get_global_id(0)];
  out[get_global_id(0)] = sum;
}
