// golden: numpy float64 with error bounds
#define TILE 16
__kernel void forward(__global const float *x, __global const float *w, __global float *partial, __local float *node, __local float *product) {
  int j = get_local_id(0), i = get_local_id(1), hidden = get_local_size(0), row = get_group_id(1) * TILE + i;
  if (j == 0)
    node[i] = x[row];
  barrier(CLK_LOCAL_MEM_FENCE);
  product[i * hidden + j] = node[i] * w[row * hidden + j];
  for (int step = TILE / 2; step > 0; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < step)
      product[i * hidden + j] += product[(i + step) * hidden + j];
  }
  if (i == 0)
    partial[get_group_id(1) * hidden + j] = product[j];
}
__kernel void squash(__global const float *partial, __global float *y, int groups) {
  int j = get_global_id(0), hidden = get_global_size(0);
  float s = 0.0f;
  for (int g = 0; g < groups; g++)
    s += partial[g * hidden + j];
  y[j] = 1.0f / (1.0f + exp(-s));
}
__kernel void adjust(__global float *w, __global float *old, __global const float *delta, __global const float *x) {
  int j = get_global_id(0), i = get_global_id(1), at = i * get_global_size(0) + j;
  float step = 0.3f * delta[j] * x[i] + 0.2f * old[at];
  w[at] += step;
  old[at] = step;
}
