// RUN: --kernel k --global 8 --local 8 --arg a=random:float32:64 --arg out=zeros:float32:8
// EXPECT: line 7: load of 4 bytes out of bounds in global memory
__kernel void k(__global const float *a, __global float *out) {
  int row = get_global_id(0);
  float sum = 0;
  for (int x = 0; x <= 8; x++)
    sum += a[row * 8 + x];
  out[row] = sum;
}
