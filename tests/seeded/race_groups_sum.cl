// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128,low=1 --arg sum=zeros:int32:1 --arg out=zeros:int32:2
// EXPECT: line 5: data race in global memory; atomic; load; line 8
__kernel void k(__global int *a, __global int *sum, __global int *out) {
  int i = get_global_id(0);
  atomic_add(sum, a[i]);
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    out[get_group_id(0)] = sum[0];
}
