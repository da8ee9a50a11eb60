// golden: numpy integers and float16
__kernel void move(__global const char *b, __global int *sums, __global const short *s, __global short *reversed, __global const half *h, __global half *back,
                   __global float *wide) {
  int i = get_global_id(0);
  char16 v = vload16(i, b + 1);
  int8 w = convert_int8(v.lo) + convert_int8(v.hi);
  int4 x = w.even + w.odd;
  int2 y = x.xz + x.yw;
  sums[i] = y.x + y.y;
  short3 t = vload3(i, s + 1);
  vstore3(t.zyx, i, reversed + 1);
  if (i == 0)
    reversed[0] = s[0];
  float4 f = vload_half4(i, h) * 0.75f;
  vstore4(f, i, wide);
  if (i & 1)
    vstore_half4_rte(f, i, back);
  else
    for (int k = 0; k < 4; k++)
      vstore_half_rte(vload_half(4 * i + k, h) * 0.75f, 4 * i + k, back);
}
