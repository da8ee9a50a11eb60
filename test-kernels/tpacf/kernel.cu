// golden: numpy float64; no pair is within the rounding errors of a bound
#define BINS 11
extern "C" __global__ void pairs(const float *v, const float *bound, unsigned *histogram, int n) {
  __shared__ unsigned h[BINS];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = t; k < BINS; k += blockDim.x)
    h[k] = 0;
  __syncthreads();
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
      atomicAdd(&h[low], 1u);
    }
  }
  __syncthreads();
  for (int k = t; k < BINS; k += blockDim.x)
    atomicAdd(&histogram[k], h[k]);
}
