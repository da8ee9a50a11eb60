__kernel void rows(__global const float *restrict a, __global float *restrict y, int n) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < n; k++)
    s += a[i * n + k];
  y[i] = s;
}
