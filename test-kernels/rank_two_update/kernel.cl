// golden: numpy float64 with error bounds
#define ID(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
__kernel void update(__global float *a, __global const float *u1, __global const float *v1, __global const float *u2, __global const float *v2, int n) {
  int i = ID(1), j = ID(0);
  if (i < n && j < n)
    a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}
// Down a column: neighbours read neighbours.
__kernel void transposed(__global const float *a, __global const float *y, __global const float *z, __global float *x, float beta, int n) {
  int i = ID(0);
  if (i < n) {
    for (int j = 0; j < n; j++)
      x[i] += beta * a[j * n + i] * y[j];
    x[i] += z[i];
  }
}
// Along a row.
__kernel void product(__global const float *a, __global const float *x, __global float *w, float alpha, int n) {
  int i = ID(0);
  if (i < n)
    for (int j = 0; j < n; j++)
      w[i] += alpha * a[i * n + j] * x[j];
}
