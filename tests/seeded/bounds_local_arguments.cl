// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int32:64 --arg local=128 --arg local=128
// EXPECT: line 6: store; local memory; beyond a variable
// The last work-item's second element is beyond the first argument.
__kernel void k(__global int *out, __local int *first, __local int *second) {
  int l = get_local_id(0);
  first[l + 1] = l;
  second[l] = l;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = first[l] + second[31 - l];
}
