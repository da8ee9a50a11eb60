// golden: numpy integers
#define REACH 3
#define SIDE (2 * REACH + 1)
// A group does one block, a work-item one vector.
__kernel void sad(__global const uchar4 *now, __global const uchar *before, __global ushort *sads, __global uchar *best, int w, int h) {
  __local ushort found[SIDE * SIDE];
  int s = get_local_id(0), bx = get_group_id(0), by = get_group_id(1), block = by * (w / 4) + bx;
  int dx = s % SIDE - REACH, dy = s / SIDE - REACH;
  ushort sum = 0;
  for (int i = 0; i < 4; i++) {
    uchar4 a = now[(4 * by + i) * (w / 4) + bx];
    int row = clamp(4 * by + i + dy, 0, h - 1) * w;
    uchar4 b = (uchar4)(before[row + clamp(4 * bx + dx, 0, w - 1)], before[row + clamp(4 * bx + 1 + dx, 0, w - 1)],
                        before[row + clamp(4 * bx + 2 + dx, 0, w - 1)], before[row + clamp(4 * bx + 3 + dx, 0, w - 1)]);
    ushort4 d = convert_ushort4(abs_diff(a, b));
    sum += d.x + d.y + d.z + d.w;
  }
  sads[block * SIDE * SIDE + s] = sum;
  found[s] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (s == 0) {
    int at = 0;
    for (int i = 1; i < SIDE * SIDE; i++)
      at = found[i] < found[at] ? i : at;
    best[block] = at;
  }
}
