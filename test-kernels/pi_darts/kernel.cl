// golden: Python integers
// Darts at a quarter of a circle: integers throughout, so that every count is exact.
uint next(uint *s) {
  *s ^= *s << 13;
  *s ^= *s >> 17;
  return *s ^= *s << 5;
}
__kernel void darts(__global uint *seeds, __global uint *hits, volatile __global uint *total, int n, int throws) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  uint s = seeds[i], inside = 0;
  for (int k = 0; k < throws; k++) {
    ulong x = next(&s) >> 1, y = next(&s) >> 1;
    inside += x * x + y * y < 1UL << 62;
  }
  seeds[i] = s;
  hits[i] = inside;
  atomic_add(total, inside);
}
