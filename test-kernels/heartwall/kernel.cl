// golden: numpy integers, then float64 with error bounds
__kernel void correlate(__global const uchar *image, __global const uchar *template_, __global float *score, volatile __global int *best, int size, int t, int shifts) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= shifts || y >= shifts)
    return;
  int sp = 0, spp = 0, spt = 0, st = 0, stt = 0, n = t * t;
  for (int i = 0; i < t; i++)
    for (int j = 0; j < t; j++) {
      int p = image[(y + i) * size + x + j], q = template_[i * t + j];
      sp += p;
      spp = mad24(p, p, spp);
      spt = mad24(p, q, spt);
      st += q;
      stt += mul24(q, q);
    }
  float s = (float)(n * spt - sp * st) / (sqrt((float)(n * spp - sp * sp)) * sqrt((float)(n * stt - st * st)));
  score[y * shifts + x] = s;
  atomic_max(best, (int)(s * 1024.0f) << 16 | y << 8 | x);
}
