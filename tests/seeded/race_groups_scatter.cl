// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128,low=0,high=40 --arg out=zeros:int32:40
// EXPECT: line 5: data race in global memory; store
__kernel void k(__global const int *a, __global int *out) {
  int i = get_global_id(0);
  out[a[i]] = i;
}
