// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 8: divergent barrier
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  if (i < 32)
    barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i];
}
