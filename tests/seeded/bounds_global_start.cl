// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg b=zeros:int32:128
// EXPECT: line 5: load of 4 bytes out of bounds in global memory
__kernel void k(__global int *a, __global int *b) {
  int i = get_global_id(0);
  b[i] = a[i - 1];
}
