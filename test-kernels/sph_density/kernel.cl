// golden: numpy float64 with error bounds
// Density and pressure of particles in cells of a grid: the nine cells around, then the forces between neighbours.
__kernel void density(__global const float2 *place, __global const int *start, __global float2 *state, int n, int w, int h, float reach2) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  float2 p = place[i];
  int cx = (int)p.x, cy = (int)p.y;
  float sum = 0.0f;
  for (int y = max(cy - 1, 0); y <= min(cy + 1, h - 1); y++)
    for (int x = max(cx - 1, 0); x <= min(cx + 1, w - 1); x++)
      for (int k = start[y * w + x]; k < start[y * w + x + 1]; k++) {
        float2 d = place[k] - p;
        float left = reach2 - (d.x * d.x + d.y * d.y);
        if (left > 0.0f)
          sum += left * left * left;
      }
  state[i] = (float2)(sum, 3.0f * (sum - 0.5f));
}
