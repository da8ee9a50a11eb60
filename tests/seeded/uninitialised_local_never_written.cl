// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 5: uninitialised; local memory
__kernel void k(__global int *a) {
  __local int l[64];
  a[get_global_id(0)] = l[get_local_id(0)];
}
