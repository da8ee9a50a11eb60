// golden: numpy float64 with error bounds
#define LANES 8
// Eight work-items share a row of the sparse matrix and add up by halves in local memory.
__kernel void spmv(__global const int *rows, __global const int *columns, __global const float *values, __global const float *x, __global float *y, int n) {
  __local float s[48];
  int t = get_local_id(0), lane = t % LANES;
  int row = (get_group_id(0) * get_local_size(0) + t) / LANES;
  float sum = 0.0f;
  if (row < n)
    for (int k = rows[row] + lane; k < rows[row + 1]; k += LANES)
      sum += values[k] * x[columns[k]];
  s[t] = sum;
  for (int half_ = LANES / 2; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    float other = lane < half_ ? s[t + half_] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  if (lane == 0 && row < n)
    y[row] = s[t];
}
