// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int32:64 --arg a=random:int32:64
// EXPECT: line 5: load; global memory; at address 0x13ffffffc; at offset -4 of surface `a`
__kernel void k(__global int *out, __global const int *a) {
  int i = get_global_id(0);
  out[i] = a[i - 1];
}
