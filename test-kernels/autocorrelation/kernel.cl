// golden: numpy integers
// A lag a work-item over a signal of shorts, sums of 64 bits; the same in tiles of local memory.
__kernel void plain(__global const short *x, __global long *r, int n, int lags) {
  int lag = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (lag >= lags)
    return;
  long sum = 0;
  for (int i = 0; i + lag < n; i++)
    sum += x[i] * x[i + lag];
  r[lag] = sum;
}
__kernel void tiles(__global const short *x, __global long *r, __local short *s, int n, int lags) {
  int t = get_local_id(0), size = get_local_size(0), first = get_group_id(0) * size;
  long sum = 0;
  for (int base = 0; base < n; base += size) {
    s[t] = base + t < n ? x[base + t] : 0;
    for (int k = t; k < 2 * size; k += size)
      s[size + k] = base + first + k < n ? x[base + first + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; k++)
      sum += s[k] * s[size + k + t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (first + t < lags)
    r[first + t] = sum;
}
