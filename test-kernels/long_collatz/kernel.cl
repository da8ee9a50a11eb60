// golden: Python integers
// Steps to 1 of numbers of 64 bits, and the peak on the way; each lane ends when it ends.
__kernel void collatz(__global const ulong *start, __global int *steps, __global ulong *peak, int n, int most) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  ulong v = start[i], top = v;
  int k = 0;
  while (v != 1 && k < most) {
    v = v & 1 ? 3 * v + 1 : v >> 1;
    top = max(top, v);
    k++;
  }
  steps[i] = k;
  peak[i] = top;
}
