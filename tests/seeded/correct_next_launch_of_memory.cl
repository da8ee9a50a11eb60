// RUN: --kernel k --global 256 --local 64 --arg a=random:int32:256
// EXPECT: no report
// Each work-group has its memory for itself.
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0), x = 0;
  for (int n = 1; n < 64; n *= 2) {
    l[i] = a[get_global_id(0)] + x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x += l[i ^ n];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  a[get_global_id(0)] = x;
}
