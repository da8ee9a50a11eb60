// A histogram in global memory: lanes of a warp add to random ones of 4096 counters.
__kernel void atomics(__global const int *in, __global int *counts, int n) {
  for (int k = get_global_id(0); k < n; k += get_global_size(0))
    atomic_add(&counts[in[k]], 1);
}
