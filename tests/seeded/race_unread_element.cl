// RUN: --kernel k --global 64 --local 64 --arg b=zeros:float32:64
// EXPECT: line 14: data race in local memory; store; load
// The element that races is loaded with the others, and not read.
__kernel void k(__global float *b) {
  __local float4 t[64];
  int i = get_local_id(0);
  t[i] = (float4)(i);
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 last = t[i];
  for (int k = 0; k < 4; k++) {
    float4 one = t[(k * 5 + i + 1) & 63];
    if (one.x > 80)
      last = one;
    ((__local float *)(t + i))[3] = k;
  }
  b[i] = last.y;
}
