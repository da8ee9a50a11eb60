// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 10: data race in local memory
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 32; s > 0; s /= 2) {
    if (i < s)
      l[i] += l[i + s];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0)
    a[get_group_id(0)] = l[0];
}
