// Pointers that follow distances from memory keep the high word of the argument that they come from. It may point into the middle
// of its buffer, so that a distance may lead down: only its low word is looked at.
// RUN: %heddle build %s --stop-after select -o - | FileCheck %s
// RUN: %heddle build %s --no-global-id --stop-after select -o - | FileCheck %s

// CHECK-LABEL: kernel @follow
// CHECK: ld.global.b64 [[FAR:%[0-9]+]], [c[0x8] + 16]
// CHECK: ld.global.b32 {{%[0-9]+}}, [c[0x8] + u32 [[FAR]] + 72]
__kernel void follow(__global const char *table, __global int *out) {
  long distance = *(__global const long *)(table + 16);
  out[get_global_id(0)] = *(__global const int *)(table + distance + 72);
}

// CHECK-LABEL: kernel @keep
// CHECK: ld.global.b64 [[FAR:%[0-9]+]], [c[0x8] + 16]
// CHECK: add.b32 [[LOW:%[0-9]+]], [[FAR]], c[0x8]
// CHECK: tuple.b64 {{%[0-9]+}}, [[LOW]], c[0xc]
__kernel void keep(__global char *table, __global ulong *out) {
  long distance = *(__global const long *)(table + 16);
  out[get_global_id(0)] = (ulong)(table + distance);
}

// CHECK-LABEL: kernel @down
// CHECK: add.b32 [[LOW:%[0-9]+]], -40, c[0x8]
// CHECK: tuple.b64 {{%[0-9]+}}, [[LOW]], c[0xc]
__kernel void down(__global char *table, __global ulong *out) { out[get_global_id(0)] = (ulong)(table - 40); }
