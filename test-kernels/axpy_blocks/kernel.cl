// golden: numpy float64 with error bounds
#define threadIdx_x ((int)get_local_id(0))
#define blockIdx_x ((int)get_group_id(0))
#define blockDim_x ((int)get_local_size(0))
#define gridDim_x ((int)get_num_groups(0))
__kernel void axpy(int n, float a, __global const float *x, __global float *y) {
  int i = blockIdx_x * blockDim_x + threadIdx_x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
// As many blocks as the device likes: each walks on by the size of the grid.
__kernel void affine(int n, float scale, float shift, __global const float *x, __global float *z) {
  for (int i = blockIdx_x * blockDim_x + threadIdx_x; i < n; i += blockDim_x * gridDim_x)
    z[i] = x[i] * scale + shift;
}
__kernel void reversed(int n, __global const float *x, __global float *w) {
  int i = blockIdx_x * blockDim_x + threadIdx_x;
  if (i >= n)
    return;
  w[n - 1 - i] = x[i];
}
