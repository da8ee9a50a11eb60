// golden: itertools
// Runs of bytes: heads by flags, a scan of a group, places by the groups before, then lengths between heads.
__kernel void heads(__global const uchar *in, __global int *place, __global int *counts, int n) {
  __local int s[2][48];
  int t = get_local_id(0), i = get_group_id(0) * get_local_size(0) + t, now = 0;
  s[0][t] = i < n && (i == 0 || in[i] != in[i - 1]);
  for (int step = 1; step < get_local_size(0); step *= 2, now ^= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    s[now ^ 1][t] = s[now][t] + (t >= step ? s[now][t - step] : 0);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n)
    place[i] = s[now][t];
  if (t == get_local_size(0) - 1)
    counts[get_group_id(0)] = s[now][t];
}
__kernel void starts(__global const uchar *in, __global const int *place, __global const int *counts, __global uchar *values, __global int *from, __global int *runs, int n) {
  int t = get_local_id(0), g = get_group_id(0), i = g * get_local_size(0) + t, before = 0;
  for (int k = 0; k < g; k++)
    before += counts[k];
  if (i >= n)
    return;
  if (i == 0 || in[i] != in[i - 1]) {
    int at = before + place[i] - 1;
    values[at] = in[i];
    from[at] = i;
  }
  if (i == n - 1) {
    from[before + place[i]] = n;
    runs[0] = before + place[i];
  }
}
// And back: each byte finds its run by binary search.
__kernel void expand(__global const uchar *values, __global const int *from, __global const int *runs, __global uchar *out, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  int low = 0, high = runs[0];
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (from[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  out[i] = values[low];
}
