// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg local=264
// EXPECT: line 7: uninitialised; local memory
__kernel void k(__global int *a, __local int *l) {
  int i = get_local_id(0);
  l[i + 1] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i] + l[i + 1];
}
