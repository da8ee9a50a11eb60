// golden: numpy sort
#define N 31
__constant int gaps[4] = {13, 4, 1, 0};
// A row a work-item: first in private memory, then another in place in global memory.
__kernel void rows(__global const float *in, __global float *out, int count, int width) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  float v[N];
  for (int k = 0; k < N; k++)
    v[k] = in[i * width + k];
  for (int g = 0; gaps[g]; g++)
    for (int k = gaps[g]; k < N; k++) {
      float x = v[k];
      int j = k;
      for (; j >= gaps[g] && v[j - gaps[g]] > x; j -= gaps[g])
        v[j] = v[j - gaps[g]];
      v[j] = x;
    }
  for (int k = 0; k < N; k++)
    out[k * count + i] = v[k];
}
__kernel void in_place(__global uchar *data, int count, int width) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  __global uchar *v = data + i * width;
  for (int gap = width / 2; gap > 0; gap /= 2)
    for (int k = gap; k < width; k++) {
      uchar x = v[k];
      int j = k;
      while (j >= gap && v[j - gap] > x) {
        v[j] = v[j - gap];
        j -= gap;
      }
      v[j] = x;
    }
}
