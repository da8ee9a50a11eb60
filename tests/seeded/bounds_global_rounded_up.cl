// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:100
// EXPECT: line 5: out of bounds in global memory
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  a[i] = a[i] * 2 + 1;
}
