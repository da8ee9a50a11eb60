// golden: numpy integers, one division in float64 with error bounds
#define K 7
#define DIMS 3
__kernel void accumulate(__global const ushort *points, __global const int *member, volatile __global int *sums, volatile __global int *counts, int n) {
  volatile __local int s[K * DIMS], c[K];
  int t = get_local_id(0), i = get_global_id(0);
  if (t < K * DIMS)
    s[t] = 0;
  if (t < K)
    c[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    int m = member[i];
    atomic_inc(&c[m]);
    for (int d = 0; d < DIMS; d++)
      atomic_add(&s[m * DIMS + d], points[d * n + i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < K * DIMS)
    atomic_add(&sums[t], s[t]);
  if (t < K)
    atomic_add(&counts[t], c[t]);
}
__kernel void centres(__global const int *sums, __global const int *counts, __global float *centre) {
  int t = get_global_id(0), count = counts[t / DIMS];
  centre[t] = count > 0 ? (float)sums[t] / (float)count : -1.0f;
}
