// golden: numpy float64; no pair is within the rounding errors of a bound
#define BINS 11
__kernel void pairs(__global const float *v, __constant float *bound, volatile __global uint *histogram, int n) {
  volatile __local uint h[BINS];
  int t = get_local_id(0), i = get_global_id(0);
  for (int k = t; k < BINS; k += get_local_size(0))
    h[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    for (int j = i + 1; j < n; j++) {
      float d = x * v[3 * j] + y * v[3 * j + 1] + z * v[3 * j + 2];
      int low = 0, high = BINS - 1; // the number of bounds above d
      while (low < high) {
        int middle = (low + high) >> 1;
        if (d < bound[middle])
          low = middle + 1;
        else
          high = middle;
      }
      atomic_inc(&h[low]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = t; k < BINS; k += get_local_size(0))
    atomic_add(&histogram[k], h[k]);
}
