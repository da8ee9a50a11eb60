// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 8: data race in local memory; line 6
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[get_global_id(0)] = l[i ^ 1];
}
