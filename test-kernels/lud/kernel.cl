// golden: numpy float64 with error bounds; unblocked, every element is updated in the same order
#define B 6
__kernel void diagonal(__global float *a, int n, int at) {
  __local float s[B][B];
  int t = get_local_id(0);
  for (int i = 0; i < B; i++)
    s[i][t] = a[(at + i) * n + at + t];
  for (int k = 0; k < B - 1; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t > k) {
      s[t][k] /= s[k][k];
      for (int j = k + 1; j < B; j++)
        s[t][j] -= s[t][k] * s[k][j];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < B; i++)
    a[(at + i) * n + at + t] = s[i][t];
}
// The first half of a group solves a column of the block to the right, the second half a row of the block below.
__kernel void perimeter(__global float *a, int n, int at) {
  __local float s[B][B];
  int t = get_local_id(0), other = at + B * (get_group_id(0) + 1);
  if (t < B)
    for (int i = 0; i < B; i++)
      s[i][t] = a[(at + i) * n + at + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < B) {
    for (int i = 1; i < B; i++) {
      float v = a[(at + i) * n + other + t];
      for (int k = 0; k < i; k++)
        v -= s[i][k] * a[(at + k) * n + other + t];
      a[(at + i) * n + other + t] = v;
    }
  } else {
    int row = (other + t - B) * n + at;
    for (int j = 0; j < B; j++) {
      float v = a[row + j];
      for (int k = 0; k < j; k++)
        v -= a[row + k] * s[k][j];
      a[row + j] = v / s[j][j];
    }
  }
}
__kernel void interior(__global float *a, int n, int at) {
  __local float l[B][B], u[B][B];
  int x = get_local_id(0), y = get_local_id(1);
  int column = at + B + get_global_id(0), row = at + B + get_global_id(1);
  l[y][x] = a[row * n + at + x];
  u[y][x] = a[(at + y) * n + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  float v = a[row * n + column];
  for (int k = 0; k < B; k++)
    v -= l[y][k] * u[k][x];
  a[row * n + column] = v;
}
