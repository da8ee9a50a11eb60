// golden: Python's re
// A table of states by classes of letters; a line a work-item, the longest match of each.
__kernel void match(__constant uchar *table, __constant uchar *kinds, __global const uchar *text, __global const int *start, __global int2 *found, int lines, int classes, uint accepting) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= lines)
    return;
  int2 best = (int2)(-1, 0);
  int end = start[i + 1];
  for (int from = start[i]; from < end && best.x < 0; from++) {
    uint state = 1;
    for (int k = from; k < end && state != 0; k++) {
      state = table[state * classes + kinds[text[k]]];
      if (accepting >> state & 1)
        best = (int2)(from - start[i], k + 1 - from);
    }
  }
  found[i] = best;
}
