// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg i32=100
// EXPECT: line 9: divergent barrier
__kernel void k(__global int *a, int n) {
  __local int l[64];
  int i = get_local_id(0);
  if (get_global_id(0) >= n)
    return;
  l[i] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i ^ 1];
}
