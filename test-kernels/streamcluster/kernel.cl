// golden: numpy float64 with error bounds
__kernel void gain(__global const float *p, __global const float *weight, __global float *cost, __global float *lower, __global uchar *switched,
                   __local float *candidate, int which, int n, int dims) {
  for (int j = get_local_id(0); j < dims; j += get_local_size(0))
    candidate[j] = p[j * n + which];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i >= n)
    return;
  float d = 0.0f;
  for (int j = 0; j < dims; j++) {
    float t = p[j * n + i] - candidate[j];
    d += t * t;
  }
  d *= weight[i];
  float delta = d - cost[i];
  bool better = delta < 0.0f;
  lower[i] = better ? delta : 0.0f;
  switched[i] = better;
  if (better)
    cost[i] = d;
}
