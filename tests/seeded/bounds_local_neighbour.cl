// RUN: --kernel k --global 64 --local 64 --arg out=zeros:int32:64 --arg i32=64
// EXPECT: line 10: load; local memory; beyond a variable
__kernel void k(__global int *out, int n) {
  __local int first[64], second[64];
  int l = get_local_id(0);
  first[l] = l;
  second[l] = -l;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0)
    out[0] = first[n] + second[n - 1];
  else
    out[l] = first[l - 1] + second[l - 1];
}
