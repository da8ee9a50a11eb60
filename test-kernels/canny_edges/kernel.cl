// golden: numpy integers
#define AT(d) ((int)(get_group_id(d) * get_local_size(d) + get_local_id(d)))
// Gradients, their sector, thinning across the edge, and hysteresis: weak pixels stay beside strong ones.
__kernel void gradient(__global const uchar *in, __global ushort *strength, __global uchar *sector, int w, int h) {
  int x = AT(0), y = AT(1);
  if (x >= w || y >= h)
    return;
  int p[3][3];
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      p[j][i] = in[clamp(y + j - 1, 0, h - 1) * w + clamp(x + i - 1, 0, w - 1)];
  int gx = p[0][2] - p[0][0] + 2 * (p[1][2] - p[1][0]) + p[2][2] - p[2][0];
  int gy = p[2][0] - p[0][0] + 2 * (p[2][1] - p[0][1]) + p[2][2] - p[0][2];
  int ax = abs(gx), ay = abs(gy);
  strength[y * w + x] = ax + ay;
  sector[y * w + x] = 5 * ay < 2 * ax ? 0 : 5 * ax < 2 * ay ? 2 : (gx ^ gy) < 0 ? 3 : 1;
}
__kernel void thin(__global const ushort *strength, __global const uchar *sector, __global uchar *edge, int w, int h, int low, int high) {
  int x = AT(0), y = AT(1);
  if (x >= w || y >= h)
    return;
  int at = y * w + x, s = strength[at], dx = 1, dy = 0;
  switch (sector[at]) {
  case 1: dy = 1; break;
  case 2: dx = 0; dy = 1; break;
  case 3: dy = -1; break;
  }
  bool inside = x > 0 && y > 0 && x < w - 1 && y < h - 1;
  bool top = inside && s > strength[at + dy * w + dx] && s >= strength[at - dy * w - dx];
  edge[at] = !top || s < low ? 0 : s < high ? 1 : 2;
}
__kernel void grow(__global const uchar *edge, __global uchar *to, int w, int h) {
  int x = AT(0), y = AT(1);
  if (x >= w || y >= h)
    return;
  uchar e = edge[y * w + x];
  if (e == 1)
    for (int j = max(y - 1, 0); j <= min(y + 1, h - 1); j++)
      for (int i = max(x - 1, 0); i <= min(x + 1, w - 1); i++)
        if (edge[j * w + i] == 2)
          e = 2;
  to[y * w + x] = e;
}
