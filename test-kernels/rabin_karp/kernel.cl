// golden: Python strings
#define P 1000003u
// Hashes roll along pieces of the text; a hash that agrees is checked letter by letter, and the first place is kept.
__kernel void find(__global const uchar *patterns, __constant uint *hashes, __global const uchar *text, volatile __global int *first, volatile __global int *checks, int count, int m, int n, int piece) {
  int from = (get_group_id(0) * get_local_size(0) + get_local_id(0)) * piece;
  if (from + m > n)
    return;
  uint hash = 0, top = 1;
  for (int k = 0; k < m; k++) {
    hash = (hash * 256 + text[from + k]) % P;
    if (k > 0)
      top = top * 256 % P;
  }
  for (int at = from; at < min(from + piece, n - m + 1); at++) {
    for (int p = 0; p < count; p++)
      if (hash == hashes[p]) {
        atomic_inc(checks);
        int k = 0;
        while (k < m && text[at + k] == patterns[p * m + k])
          k++;
        if (k == m)
          atomic_min(&first[p], at);
      }
    if (at + m < n)
      hash = ((hash + P - text[at] * top % P) * 256 + text[at + m]) % P;
  }
}
