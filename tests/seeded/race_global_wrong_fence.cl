// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg t=zeros:int32:128
// EXPECT: line 7: data race in global memory; line 5
__kernel void k(__global int *a, __global int *t) {
  int i = get_global_id(0);
  t[i] = a[i] * 2;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = t[i ^ 63];
}
