// RUN: --kernel k --global 1 --local 1 --arg out=zeros:int64:64 --arg a=zeros:int32:64 --arg b=zeros:int32:64 --arg i32=128
// EXPECT: line 5: store; global memory; buffer `a`
// Far enough to be in another buffer on most devices.
__kernel void k(__global long *out, __global int *a, __global int *b, int n) {
  a[n] = 5;
  out[0] = b[0];
}
