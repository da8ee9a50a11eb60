// golden: numpy float64 with error bounds
__kernel void nearest(__global const float2 *points, __global float *distance, __global float *least, __global int *index, float2 target,
                      __local float *d, __local int *at) {
  int t = get_local_id(0), i = get_global_id(0), n = get_local_size(0);
  float2 v = points[i] - target;
  float mine = sqrt(v.x * v.x + v.y * v.y);
  distance[i] = mine;
  d[t] = mine;
  at[t] = i;
  while (n > 1) {
    int rest = (n + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t + rest < n && d[t + rest] < d[t]) {
      d[t] = d[t + rest];
      at[t] = at[t + rest];
    }
    n = rest;
  }
  if (t == 0) {
    least[get_group_id(0)] = d[0];
    index[get_group_id(0)] = at[0];
  }
}
