// RUN: --kernel k --global 64 --local 64 --arg a=random:int32:64
// EXPECT: line 7: load of 4 bytes out of bounds in constant memory; at offset 12 of variable `weights`, which has 12 bytes
__constant int weights[3] = {1, 2, 1};
__constant int offsets[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  a[i] = offsets[i] * weights[i & 3];
}
