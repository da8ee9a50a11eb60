// golden: numpy integers
// Sums and differences in place: in local memory while pairs are within a group, then through global memory.
__kernel void within(__global int *data, __local int *s) {
  int t = get_local_id(0), n = 2 * get_local_size(0), base = get_group_id(0) * n;
  s[t] = data[base + t];
  s[t + n / 2] = data[base + t + n / 2];
  for (int step = 1; step < n; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int i = (t / step * 2) * step + t % step, a = s[i], b = s[i + step];
    s[i] = a + b;
    s[i + step] = a - b;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  data[base + t] = s[t];
  data[base + t + n / 2] = s[t + n / 2];
}
// Four elements at once: two steps a launch.
__kernel void across(__global int *data, int step) {
  int t = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int i = (t / step * 4) * step + t % step;
  int a = data[i], b = data[i + step], c = data[i + 2 * step], d = data[i + 3 * step];
  int e = a + b, f = a - b, g = c + d, h = c - d;
  data[i] = e + g;
  data[i + step] = f + h;
  data[i + 2 * step] = e - g;
  data[i + 3 * step] = f - h;
}
