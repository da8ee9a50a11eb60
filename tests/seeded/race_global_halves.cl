// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 5: data race in global memory; store; store
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  a[i / 2] = i;
}
