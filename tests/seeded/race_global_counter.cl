// RUN: --kernel k --global 128 --local 64 --arg n=zeros:int32:1
// EXPECT: line 4: data race in global memory
__kernel void k(__global int *n) {
  n[0] = n[0] + 1;
}
