// golden: numpy integers
// Particles on a square lattice, four bits a cell: pairs that meet head on turn, then all move on.
__kernel void collide(__global const uchar *in, __global uchar *out, int w, int h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= w || y >= h)
    return;
  uchar from = 0;
  const int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
  for (int d = 0; d < 4; d++) {
    int u = x - dx[d], v = y - dy[d];
    u = u < 0 ? u + w : u >= w ? u - w : u;
    v = v < 0 ? v + h : v >= h ? v - h : v;
    uchar c = in[v * w + u];
    c = c == 5 ? 10 : c == 10 ? 5 : c;
    from |= c & (1 << d);
  }
  out[y * w + x] = from;
}
__kernel void energy(__global const uchar *cells, volatile __global uint *total, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < n)
    atomic_add(total, (uint)popcount(cells[i]));
}
