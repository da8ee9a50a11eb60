// golden: numpy float64 with error bounds
__kernel void step_e(__global float *ex, __global float *ey, __global const float *hz, int nx, int ny, int t) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i >= nx || j >= ny)
    return;
  int at = i * ny + j;
  ey[at] = i == 0 ? (float)t : ey[at] - 0.5f * (hz[at] - hz[at - ny]);
  if (j > 0)
    ex[at] -= 0.5f * (hz[at] - hz[at - 1]);
}
__kernel void step_h(__global const float *ex, __global const float *ey, __global float *hz, int nx, int ny) {
  int j = get_global_id(0), i = get_global_id(1), at = i * ny + j;
  if (i < nx - 1 && j < ny - 1)
    hz[at] -= 0.7f * (ex[at + 1] - ex[at] + ey[at + ny] - ey[at]);
}
