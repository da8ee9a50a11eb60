// RUN: --kernel k --global 64 --local 32 --arg a=random:float32:62 --arg b=zeros:float32:64
// EXPECT: line 9: out of bounds in global memory
// Two elements of what is loaded are read; the load reaches beyond the buffer with the others.
__kernel void k(__global const float4 *a, __global float *b) {
  int i = get_global_id(0);
  float4 last = a[0];
  // In a loop, so that the vector stays whole.
  for (int k = 0; k < 4; k++) {
    float4 one = a[k * 5 + i & 15];
    if (one.x > 8)
      last = one;
  }
  b[i] = last.y;
}
