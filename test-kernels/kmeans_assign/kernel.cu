// golden: numpy float64 with error bounds
// Points and centroids as structures of arrays. K is the number of centroids.
extern "C" __global__ void assign(const float *points, const float *centroids, int *member, float *distance, int n, int dims) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum[K];
  for (int k = 0; k < K; k++)
    sum[k] = 0.0f;
  for (int j = 0; j < dims; j++) {
    float v = points[j * n + i];
    for (int k = 0; k < K; k++) {
      float d = v - centroids[j * K + k];
      sum[k] += d * d;
    }
  }
  int best = 0;
  float least = sum[0];
  for (int k = 1; k < K; k++)
    if (sum[k] < least) {
      least = sum[k];
      best = k;
    }
  member[i] = best;
  distance[i] = least;
}
extern "C" __global__ void lookup(const float *points, const float *centroids, const int *member, float *residual, int n, int dims) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int m = member[i];
  for (int j = 0; j < dims; j++)
    residual[j * n + i] = points[j * n + i] - centroids[j * K + m];
}
