// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 11: data race in local memory; load; atomic; line 9
__kernel void k(__global int *a) {
  __local int count;
  if (get_local_id(0) == 0)
    count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 32)
    atomic_inc(&count);
  if (get_local_id(0) == 40)
    a[get_group_id(0)] = count;
}
