// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 6: data race in local memory; store; line 6
__kernel void k(__global int *a) {
  __local int l;
  int i = get_local_id(0);
  l = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l;
}
