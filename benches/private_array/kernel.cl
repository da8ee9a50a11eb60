// A histogram of 32 bins for each work-item, in a private array that is indexed by data.
__kernel void private_array(__global const int *in, __global int *out, int n) {
  int i = get_global_id(0);
  int bins[32];
  for (int b = 0; b < 32; b++)
    bins[b] = 0;
  for (int k = 0; k < n; k++)
    bins[in[k * get_global_size(0) + i]]++;
  int most = 0;
  for (int b = 0; b < 32; b++)
    most = max(most, bins[b] + bins[(b + most) % 32]);
  out[i] = most;
}
