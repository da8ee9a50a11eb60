// RUN: --kernel k --global 256 --local 64 --arg a=random:int32:256 --arg part=zeros:int32:4 --arg done=zeros:int32:1 --arg out=zeros:int32:1
// EXPECT: no report
// The last work-group to arrive adds up what the others left: ordered by the fence and the atomic.
__kernel void k(__global int *a, __global int *part, __global int *done, __global int *out) {
  __local int l[64];
  __local int last;
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) {
    int sum = 0;
    for (int n = 0; n < 64; n++)
      sum += l[n];
    part[get_group_id(0)] = sum;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    last = atomic_inc(done) == get_num_groups(0) - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (last && i < get_num_groups(0))
    atomic_add(out, part[i]);
}
