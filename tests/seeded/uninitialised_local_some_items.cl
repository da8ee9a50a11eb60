// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128,low=0,high=9
// EXPECT: line 9: uninitialised; local memory
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0);
  if (a[get_global_id(0)] > 4)
    l[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i ^ 1];
}
