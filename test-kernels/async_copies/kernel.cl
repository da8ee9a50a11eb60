// golden: numpy integers
#define G 24
__kernel void copy(__global const int *in, __global int *out, __global int *picked, int tiles, int stride) {
  __local int tile[2][G], result[G];
  int t = get_local_id(0), group = get_group_id(0);
  __global const int *from = in + group * tiles * G;
  __global int *to = out + group * tiles * G;
  event_t loaded = async_work_group_copy(tile[0], from, G, 0);
  for (int k = 0; k < tiles; k++) {
    wait_group_events(1, &loaded);
    if (k + 1 < tiles)
      loaded = async_work_group_copy(tile[(k + 1) & 1], from + (k + 1) * G, G, 0);
    result[t] = tile[k & 1][G - 1 - t] * 2 + tile[k & 1][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t stored = async_work_group_copy(to + k * G, result, G, 0);
    wait_group_events(1, &stored);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  event_t e = async_work_group_strided_copy(result, in + group * G * stride, G, stride, 0);
  wait_group_events(1, &e);
  picked[group * G + t] = result[t];
}
