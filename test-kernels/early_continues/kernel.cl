// Golden: Python integers; a loop that is left in the middle only.
// Lanes begin another iteration before the others come to the way out, and the counter counts iterations all the same.
__kernel void k(__global const int *a, __global int *out, int limit) {
  int g = get_global_id(0);
  int x = a[g], i = 0, s = 0;
  while (1) {
    i++;
    if (x & 1) {
      x = x * 3 + 1;
      s += i;
      continue;
    }
    x >>= 1;
    s ^= i * 7;
    if (x <= 1 || i > limit)
      break;
  }
  out[g * 2] = i;
  out[g * 2 + 1] = s;
}
