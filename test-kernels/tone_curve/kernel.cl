// golden: numpy in double precision, numpy integers
// Pixels to floats, through a curve and back with clamping; differences of signed samples; polar coordinates; a hash of upper halves.
__kernel void tone(__global const uchar4 *in, __global uchar4 *out, float gamma, float gain, int n) {
  int i = get_global_id(0);
  if (i < n) {
    float4 c = convert_float4(in[i]) / 255.0f;
    out[i] = convert_uchar4_sat_rte(pow(c, (float4)(gamma)) * (gain * 255.0f));
  }
}

__kernel void slope(__global const short *in, __global short *across, __global uchar *size, __global const char *bias, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < w && y < h) {
    int left = max(x - 1, 0), right = min(x + 1, w - 1), above = clamp(y - 1, 0, h - 1);
    short here = in[y * w + x], before = in[y * w + left], behind = in[y * w + right], over = in[above * w + x];
    across[y * w + x] = sub_sat(behind, before);
    ushort d = abs_diff(here, over);
    size[y * w + x] = convert_uchar_sat((int)(d >> 4) + bias[y * w + x]) ^ (uchar)hadd(max(here, before), min(behind, over));
  }
}

__kernel void polar(__global const float2 *in, __global float4 *out, __global int4 *cells, int n) {
  int i = get_global_id(0);
  if (i < n) {
    float2 p = in[i];
    float limited = p.x > -2.5f ? p.x : -2.5f;
    limited = limited < 2.5f ? limited : 2.5f;
    float2 unit = normalize((float2)(p.x, 1.5f));
    out[i] = (float4)(sin(p.y), cos(p.y), tanh(p.x), unit.x);
    cells[i] = (int4)((int)floor(limited * 8.0f), convert_int_rte(p.x * 4.0f), (int)round(p.x * 2.0f), convert_char_sat(p.x * 40.0f));
  }
}

__kernel void mix64(__global const ulong *in, __global ulong *out, int n) {
  int i = get_global_id(0);
  if (i < n) {
    ulong x = in[i], y = in[n - 1 - i];
    ulong high = mul_hi(x, y | 1), bits = (x & y) | (~x & high);
    out[i] = rotate(bits, x & 63) ^ (ulong)mul_hi((long)x, (long)y) ^ rotate((uint)y, (uint)high);
  }
}
