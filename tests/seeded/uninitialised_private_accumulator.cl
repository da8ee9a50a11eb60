// RUN: --kernel k --global 64 --local 32 --arg out=zeros:float32:64 --arg a=random:float32:64
// EXPECT: line 8: uninitialised; private memory
__kernel void k(__global float *out, __global const float *a) {
  int i = get_global_id(0);
  float sums[4];
  for (int step = 0; step < 8; step++)
    for (int j = 0; j < 4; j++)
      sums[j] += a[(i + step * 4 + j) & 63];
  float sum = 0;
  for (int j = 0; j < 4; j++)
    sum += sums[j];
  out[i] = sum;
}
