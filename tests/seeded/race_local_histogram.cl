// RUN: --kernel k --global 256 --local 256 --arg a=random:int32:256 --arg h=zeros:int32:16
// EXPECT: line 9: data race in local memory
__kernel void k(__global int *a, __global int *h) {
  __local int l[16];
  int i = get_local_id(0);
  if (i < 16)
    l[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  l[a[i] & 15] += 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < 16)
    h[i] = l[i];
}
