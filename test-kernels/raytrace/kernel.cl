// golden: numpy float64 with error bounds; no decision is within them
typedef struct { float x, y, z, radius; } Sphere;
__kernel void trace(__constant Sphere *spheres, __global float *depth, __global char *which, __global float *shade, int count, int w, int h, float4 light) {
  int i = get_global_id(0), j = get_global_id(1);
  if (i >= w || j >= h)
    return;
  float x = i * 0.0625f - 0.9f, y = j * 0.0625f - 0.7f, nearest = 100.0f, lit = 0.0f;
  int found = -1;
  for (int k = 0; k < count; k++) {
    float dx = x - spheres[k].x, dy = y - spheres[k].y;
    float d = spheres[k].radius * spheres[k].radius - dx * dx - dy * dy;
    if (d < 0.0f)
      continue;
    float z = spheres[k].z - sqrt(d);
    if (z < nearest) {
      nearest = z;
      found = k;
    }
  }
  if (found >= 0) {
    Sphere s = spheres[found];
    float inverse = 1.0f / s.radius;
    float cosine = (x - s.x) * inverse * light.x + (y - s.y) * inverse * light.y + (nearest - s.z) * inverse * light.z;
    lit = fmax(cosine, 0.0f) * 0.9f + 0.1f;
  }
  depth[j * w + i] = nearest;
  which[j * w + i] = found;
  shade[j * w + i] = lit;
}
