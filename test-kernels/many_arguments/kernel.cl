// golden: Python integers
typedef struct { float f[300]; char c; short h; double d; int i[3]; long l; uchar4 u; } Large;
long parts(Large a, int k) {
  return (long)a.f[k] + a.c + a.h + (long)a.d + a.i[k % 3] + a.l + a.u.y * a.u.z;
}
// 2.6 KB of arguments: instructions name the first kilobyte, the others are loaded.
__kernel void sums(Large first, __global long *out, __global const float *in, __local int *scratch, int n, char flag, ulong wide,
                   float4 v, read_only image2d_t image, sampler_t s, Large second, __constant int *table, double last) {
  int i = get_global_id(0), l = get_local_id(0);
  scratch[l] = n * i + flag;
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 texel = read_imagef(image, s, (int2)(i & 3, i >> 2 & 1));
  ulong sum = wide + scratch[get_local_size(0) - 1 - l] + (long)(in[i] + v.x + 2 * v.w) + (long)texel.z;
  sum += get_image_width(image) + get_image_channel_order(image) - CLK_RGBA;
  sum += parts(first, i) + parts(second, 299 - i) + parts(second, 7) + (long)last;
  for (int k = 0; k < n; k++)
    sum = sum * 3 + second.c + table[k];
  if ((i & 1) && second.l == 5)
    sum ^= second.i[1];
  out[i] = sum;
}
