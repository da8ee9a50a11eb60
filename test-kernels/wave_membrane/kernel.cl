// golden: numpy float64 with error bounds
#define X ((int)(get_group_id(0) * get_local_size(0) + get_local_id(0)))
#define Y ((int)(get_group_id(1) * get_local_size(1) + get_local_id(1)))
// The wave equation in double: three moments in turn, a fixed border.
__kernel void advance(__global const double *before, __global const double *now, __global double *after, double c, int w, int h) {
  int at = Y * w + X;
  if (X <= 0 || Y <= 0 || X >= w - 1 || Y >= h - 1)
    return;
  double bend = now[at - 1] + now[at + 1] + now[at - w] + now[at + w] - 4.0 * now[at];
  after[at] = 2.0 * now[at] - before[at] + c * bend;
}
