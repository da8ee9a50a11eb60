// golden: numpy float32, one rounding an operation and no sums of products
// The nearest of many boxes a ray meets, by slabs: divisions are made before, so only differences and products round.
__kernel void cast(__global const float *rays, __global const float *boxes, __global int *hit, __global float *distance, int count, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  float3 from = vload3(2 * i, rays), inverse = vload3(2 * i + 1, rays);
  int which = -1;
  float best = INFINITY;
  for (int k = 0; k < n; k++) {
    float3 a = (vload3(2 * k, boxes) - from) * inverse, b = (vload3(2 * k + 1, boxes) - from) * inverse;
    float3 near3 = fmin(a, b), far3 = fmax(a, b);
    float near_ = fmax(fmax(near3.x, near3.y), fmax(near3.z, 0.0f)), far_ = fmin(fmin(far3.x, far3.y), far3.z);
    if (near_ <= far_ && near_ < best) {
      best = near_;
      which = k;
    }
  }
  hit[i] = which;
  distance[i] = best;
}
