// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int32:64
// EXPECT: line 11: uninitialised; local memory
// Found where the value is read first, not where its copy is.
__kernel void k(__global int *out) {
  __local int first[33], second[33];
  int l = get_local_id(0);
  first[l] = l;
  second[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 32)
    second[l] = first[l + 1] + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = second[31 - l];
}
