// golden: numpy stable sort
#define RUN 7
__kernel void merge(__global const short *a, __global const short *b, __global short *out, __global uchar *from_b, int na, int nb) {
  int at = get_global_id(0) * RUN, end = min(at + RUN, na + nb);
  if (at >= na + nb)
    return;
  int low = max(0, at - nb), high = min(at, na);
  while (low < high) {
    int i = (low + high) / 2;
    if (a[i] <= b[at - 1 - i])
      low = i + 1;
    else
      high = i;
  }
  int i = low, j = at - low;
  for (; at < end; at++) {
    bool take_a = j >= nb || (i < na && a[i] <= b[j]);
    out[at] = take_a ? a[i++] : b[j++];
    from_b[at] = !take_a;
  }
}
