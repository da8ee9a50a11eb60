// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg c=zeros:int32:64
// EXPECT: line 5: out of bounds in constant memory
__kernel void k(__global int *a, __constant int *c) {
  int i = get_global_id(0);
  a[i] = c[i];
}
