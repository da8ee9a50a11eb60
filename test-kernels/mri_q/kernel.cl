// golden: numpy float64 with error bounds
__kernel void q(__global const float *pos, __constant float4 *k, __global float *re, __global float *im, int n, int first, int count) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float x = pos[i], y = pos[n + i], z = pos[2 * n + i];
  float a = re[i], b = im[i];
  for (int s = first; s < first + count; s++) {
    float phase = 6.2831853f * (k[s].x * x + k[s].y * y + k[s].z * z);
    a += k[s].w * cos(phase);
    b += k[s].w * sin(phase);
  }
  re[i] = a;
  im[i] = b;
}
