// golden: numpy float64 with error bounds
__kernel void potential(__constant float4 *atoms, __global float *lattice, int count, int w, int h, float spacing, float z) {
  int i = get_global_id(0), j = get_global_id(1);
  if (i >= w || j >= h)
    return;
  float x = i * spacing, y = j * spacing, sum = 0.0f;
  for (int a = 0; a < count; a++) {
    float4 p = atoms[a];
    float dx = x - p.x, dy = y - p.y, dz = z - p.z;
    float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < 16.0f) {
      float s = 1.0f - r2 * 0.0625f;
      sum += p.w * rsqrt(r2) * s * s;
    }
  }
  lattice[j * w + i] = sum;
}
