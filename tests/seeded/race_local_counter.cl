// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 9: data race in local memory
__kernel void k(__global int *a) {
  __local int count;
  if (get_local_id(0) == 0)
    count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a[get_global_id(0)] > 20)
    count++;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = count;
}
