// golden: numpy float64 with error bounds
// Points as an array of structures: each work-item comes back to its own row for every centroid.
__kernel void assign(__global const float *points, __global const float *centroids, __global int *member, __global float *distance, int n, int k, int dims) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  int best = -1;
  float least = MAXFLOAT;
  for (int c = 0; c < k; c++) {
    float sum = 0.0f;
    for (int j = 0; j < dims; j++) {
      float d = points[i * dims + j] - centroids[c * dims + j];
      sum += d * d;
    }
    if (sum < least) {
      least = sum;
      best = c;
    }
  }
  member[i] = best;
  distance[i] = least;
}
