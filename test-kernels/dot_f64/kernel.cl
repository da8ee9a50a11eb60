// Golden: numpy float64.
__kernel void dot_product(__global const double *a, __global const double *b, __global double *out, __local double *s, int n) {
  int l = get_local_id(0);
  double sum = 0.0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum = fma(a[i], b[i], sum);
  s[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    for (int k = 1; k < get_local_size(0); k++)
      sum += s[k];
    out[get_group_id(0)] = sum;
  }
}
