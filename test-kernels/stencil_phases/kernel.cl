// golden: numpy float64 with error bounds
#define CELLS 32
#define TIMES 4
// A walk along linked lines: few registers while loads are under way, then for a moment many cells that go through several steps of time.
__kernel void walk(__global const int *link, __global const float *data, __global const float *ground, __global float *out, int steps, float c) {
  __local float s[128];
  int t = get_local_id(0), n = get_local_size(0), group = get_group_id(0), line = group;
  for (int k = t; k < 128; k += n)
    s[k] = ground[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int step = 0; step < steps; step++) {
    line = link[line];
    float v = data[line * n + t], x[CELLS];
#pragma unroll
    for (int k = 0; k < CELLS; k++)
      x[k] = s[t + k] * v;
#pragma unroll
    for (int time = 1; time <= TIMES; time++) {
      float left = x[time - 1];
#pragma unroll
      for (int k = time; k < CELLS - time; k++) {
        float mine = x[k];
        x[k] = mine + c * (left + x[k + 1] - 2.0f * mine);
        left = mine;
      }
    }
    float total = 0.0f;
#pragma unroll
    for (int k = TIMES; k < CELLS - TIMES; k++)
      total += x[k];
    sum = 0.5f * sum + total;
  }
  out[group * n + t] = sum;
}
