// golden: numpy float64 with error bounds
// The matrices are stored by columns.
__kernel void gesummv(__global const float4 *a, __global const float4 *b, __global const float *x, __global float4 *y, float alpha, float beta, int n) {
  int i = get_global_id(0), quads = n / 4;
  float4 s = (float4)(0.0f), t = 0.0f;
  for (int k = 0; k < n; k++) {
    s += a[k * quads + i] * x[k];
    t += b[k * quads + i] * x[k];
  }
  y[i] = alpha * s + beta * t;
}
