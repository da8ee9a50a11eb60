// RUN: --kernel k --global 256 --local 128 --arg a=random:int32:256 --arg local=256
// EXPECT: line 5: store of 4 bytes out of bounds in local memory
// Written for work-groups of 64.
__kernel void k(__global int *a, __local int *l) {
  l[get_local_id(0)] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[63 - get_local_id(0)];
}
