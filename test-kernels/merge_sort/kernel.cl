// golden: numpy stable sort
// Each element finds its place among the sorted neighbour run by binary search; runs double from launch to launch.
__kernel void merge(__global const int2 *in, __global int2 *out, int n, int run) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  int pair = i / (2 * run) * 2 * run, middle = min(pair + run, n), end = min(pair + 2 * run, n);
  bool left = i < middle;
  int2 mine = in[i];
  int low = left ? middle : pair, high = left ? end : middle;
  int first = low;
  while (low < high) {
    int at = (low + high) / 2;
    if (in[at].x < mine.x || (!left && in[at].x == mine.x))
      low = at + 1;
    else
      high = at;
  }
  out[pair + (i - (left ? pair : middle)) + (low - first)] = mine;
}
