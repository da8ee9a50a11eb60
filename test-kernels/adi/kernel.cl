// golden: numpy float64 with error bounds
// Solves -x[k-1] + 4 x[k] - x[k+1] = b[k] along a line of stride `along`; lines are `across` apart.
__kernel void sweep(__global float *x, __global float *c, int n, int along, int across) {
  int line = get_global_id(0);
  if (line >= n)
    return;
  int at = line * across;
  float cc = -1.0f / 4.0f, d = x[at] / 4.0f;
  c[at] = cc;
  x[at] = d;
  for (int k = 1; k < n; k++) {
    at += along;
    float low = 4.0f + cc;
    cc = -1.0f / low;
    d = (x[at] + d) / low;
    c[at] = cc;
    x[at] = d;
  }
  for (int k = n - 2; k >= 0; k--) {
    at -= along;
    d = x[at] - c[at] * d;
    x[at] = d;
  }
}
