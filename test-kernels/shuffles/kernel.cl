// golden: numpy indexing
__kernel void mix_up(__global const uchar8 *a, __global const uchar8 *b, __global const uchar16 *mask, __global uchar16 *both, __global uchar8 *one,
                     __global const float4 *f, __global const uint4 *fmask, __global float4 *g) {
  int i = get_global_id(0);
  both[i] = shuffle2(a[i], b[i], mask[i]);
  one[i] = shuffle(a[i], mask[i].lo);
  float4 v = shuffle(f[i], fmask[i]);
  v.wy = v.xw;
  g[i] = (float4)(v.s0, v.s12, v.s3);
}
