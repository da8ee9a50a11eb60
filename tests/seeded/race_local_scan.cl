// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 10: data race in local memory
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  for (int d = 1; d < 64; d *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= d)
      l[i] += l[i - d];
  }
  a[get_global_id(0)] = l[i];
}
