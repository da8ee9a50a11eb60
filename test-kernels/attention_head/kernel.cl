// golden: numpy float64 with error bounds
#define D 8
// A query a work-item over all keys it may see: maximum and sums are mended as larger scores come.
__kernel void attend(__global const float *q, __global const float *k, __global const float *v, __global float *out, int n, float scale) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  float mine[D], sum[D], most = -INFINITY, total = 0.0f;
  for (int d = 0; d < D; d++) {
    mine[d] = q[i * D + d];
    sum[d] = 0.0f;
  }
  for (int j = 0; j <= i; j++) {
    float score = 0.0f;
    for (int d = 0; d < D; d++)
      score += mine[d] * k[j * D + d];
    score *= scale;
    float larger = fmax(most, score), old = exp(most - larger), now = exp(score - larger);
    total = total * old + now;
    for (int d = 0; d < D; d++)
      sum[d] = sum[d] * old + now * v[j * D + d];
    most = larger;
  }
  for (int d = 0; d < D; d++)
    out[i * D + d] = sum[d] / total;
}
