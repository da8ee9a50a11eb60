// A switch over all values of its condition has an unreachable default. That block ends the program and must not keep the lanes from meeting before the barrier. Found by a random
// program: they ran on side by side, and the barrier was divergent.
// RUN: %heddle run %s --kernel k --global 64 --local 32 --arg a=random:int32:64,low=0,high=1000 --arg b=zeros:int32:64 --mode timing --check=all --verify
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// CHECK: brad L{{[0-9]+}}, L
__kernel void k(__global const int *a, __global int *b) {
  __local int s[32];
  int i = get_global_id(0), l = get_local_id(0), v = a[i];
  switch (v & 3) {
  case 0:
    v += a[v & 31];
    break;
  case 1:
    v *= a[(v + 1) & 31];
    break;
  case 2:
    for (int k = 0; k < (a[i] & 7); k++)
      v = v * 3 + a[k];
    break;
  case 3:
    v ^= 5;
  }
  s[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  b[i] = s[31 - l];
}
