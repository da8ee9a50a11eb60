// RUN: --kernel k --global 8 --local 8 --arg a=random:float32:64 --arg b=zeros:float32:64
// EXPECT: line 5: misaligned load of 16 bytes in global memory
__kernel void k(__global float *a, __global float4 *b) {
  int i = get_global_id(0);
  b[i] = *(__global float4 *)(a + i);
}
