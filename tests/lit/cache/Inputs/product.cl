#include <heddle.h>

__kernel void product(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n) {
  int x = get_global_id(0), y = get_group_id(1);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}

__kernel void explicit(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n) {
  int x = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[k] * heddle_load_uniform(b + k) + b[k * n + x];
  c[x] = s;
}
