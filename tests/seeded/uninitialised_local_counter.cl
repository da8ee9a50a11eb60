// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 5: uninitialised; local memory
__kernel void k(__global int *a) {
  __local int count;
  atomic_add(&count, a[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    a[get_group_id(0)] = count;
}
