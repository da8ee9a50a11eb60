// RUN: --kernel k --global 32 --local 32 --arg a=zeros:float32:126
// EXPECT: line 5: out of bounds in global memory
__kernel void k(__global float *a) {
  int i = get_global_id(0);
  vstore4((float4)(1.0f), i, a);
}
