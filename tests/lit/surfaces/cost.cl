// An access has an address of ids only where that costs less than the program's own arithmetic (G5): the index that both loads share is needed for
// the comparison anyway, and what would be left to add changes in every iteration.
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='print<global-id>' --disable-output %t.ll | FileCheck %s
// CHECK-LABEL: global-id addresses of windows:
// CHECK: t{{[0-9]}}(0, 0, 0): {{.*}}load
// CHECK: kept, its own arithmetic costs less: {{.*}}load
__kernel void windows(__global const int *from, __global const int *wall, __global int *to, int cols, int depth, int limit) {
  int x = (int)get_group_id(0) * ((int)get_local_size(0) - 2 * depth) + get_local_id(0) - depth;
  int value = from[get_global_id(0)];
#pragma unroll 1
  for (int k = 0; k < depth; k++) {
    int at = x + (value & 1) * cols;
    value += at < limit ? wall[x + k * (int)get_group_id(1) * cols * depth] : at;
  }
  to[get_global_id(0)] = value;
}
