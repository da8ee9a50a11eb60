// RUN: --kernel k --global 64 --local 32 --arg out=zeros:float32:256 --arg in=random:float32:256
// EXPECT: no report
__kernel void k(__global float3 *out, __global const float3 *in) {
  int i = get_global_id(0);
  float3 kept[4];
  for (int n = 0; n < 4; n++)
    kept[n] = in[(i + n) & 63];
  float3 sum = kept[i & 3];
  sum.y += 1;
  out[i] = sum.x > 0 ? kept[(i + 1) & 3] : sum;
}
