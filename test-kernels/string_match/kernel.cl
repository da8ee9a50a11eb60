// golden: Python strings
// A work-item marks the matches that end in its piece; it starts early enough to know the longest pattern.
__kernel void match(__global const uchar *text, __constant uchar *table, __constant uchar *masks, __global uchar *marks, volatile __global int *counts,
                    int n, int piece, int longest) {
  int begin = get_global_id(0) * piece, end = min(begin + piece, n), state = 0;
  for (int i = max(0, begin - longest + 1); i < end; i++) {
    state = table[state * 3 + text[i] - 'a'];
    if (i < begin)
      continue;
    uint found = masks[state];
    marks[i] = found;
    while (found) {
      int k = 31 - clz(found);
      atomic_inc(counts + k);
      found ^= 1u << k;
    }
  }
}
