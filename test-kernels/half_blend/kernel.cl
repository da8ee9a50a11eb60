// golden: numpy float16 and float64, every operation rounded once
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
// Two pictures in halves blended by a third; sums of four pixels in float from packed halves.
__kernel void blend(__global const half4 *a, __global const half4 *b, __global const half *alpha, __global half4 *out, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < n)
    out[i] = a[i] + (b[i] - a[i]) * alpha[i];
}
__kernel void shrink(__global const half *in, __global half *out, int w, int h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (2 * x >= w || 2 * y >= h)
    return;
  float2 above = vload_half2(0, in + 2 * y * w + 2 * x), below = vload_half2(0, in + (2 * y + 1) * w + 2 * x);
  vstore_half_rte((above.x + above.y + (below.x + below.y)) * 0.25f, y * (w / 2) + x, out);
}
