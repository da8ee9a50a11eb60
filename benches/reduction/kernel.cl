// Sum of a work-group's elements in work-group memory.
__kernel void reduction(__global const float *in, __global float *out, __local float *scratch, int n) {
  int i = get_global_id(0), l = get_local_id(0);
  float sum = 0.0f;
  for (int k = i; k < n; k += get_global_size(0))
    sum += in[k];
  scratch[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s)
      scratch[l] += scratch[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0)
    out[get_group_id(0)] = scratch[0];
}
