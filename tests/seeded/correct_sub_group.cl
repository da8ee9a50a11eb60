// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --option -cl-std=CL3.0
// EXPECT: no report
// The work-items of a warp exchange values; a sub-group barrier is enough for that.
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i ^ 1];
}
