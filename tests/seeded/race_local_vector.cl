// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg local=512
// EXPECT: line 5: data race in local memory; store
__kernel void k(__global int *a, __local int *l) {
  int i = get_local_id(0);
  vstore2((int2)(i, i + 100), 0, l + i);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i];
}
