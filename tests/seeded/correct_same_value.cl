// RUN: --kernel k --global 256 --local 64 --arg a=random:int32:256 --arg found=zeros:int32:1
// EXPECT: no report
// All work-items write the same value.
__kernel void k(__global int *a, __global int *found) {
  __local int any;
  any = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a[get_global_id(0)] > 10) {
    any = 1;
    found[0] = 1;
  }
}
