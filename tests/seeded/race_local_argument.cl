// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg local=256
// EXPECT: line 8: data race in local memory; store; load; line 7
__kernel void k(__global int *a, __local int *l) {
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  int left = l[(i + 63) & 63];
  l[i] = left * 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i];
}
