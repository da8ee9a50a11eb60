// golden: numpy integers
// Walkers on a torus with walls: a generator each, visits counted by atomics, steps that end early.
uint next(uint *s) {
  *s ^= *s << 13;
  *s ^= *s >> 17;
  return *s ^= *s << 5;
}
__kernel void walk(__global const uint *seeds, __global const uchar *wall, volatile __global uint *visits, __global ushort2 *last, int n, int w, int h, int steps) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  uint s = seeds[i];
  int x = next(&s) % w, y = next(&s) % h, alive = 1;
  for (int k = 0; k < steps && alive; k++) {
    uint d = next(&s) >> 29;
    int u = (x + (d == 0) - (d == 1) + w) % w, v = (y + (d == 2) - (d == 3) + h) % h;
    if (!wall[v * w + u]) {
      x = u;
      y = v;
    }
    alive = d != 7 || (s & 15) != 0;
    atomic_inc(&visits[y * w + x]);
  }
  last[i] = (ushort2)(x, y);
}
