// golden: Python's zlib, and Python integers
// Adler-32 and FNV-1a of lines of different length: a line a work-item, bytes one by one.
__kernel void lines(__global const uchar *text, __global const int *start, __global uint *adler, __global ulong *fnv, int count) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  uint a = 1, b = 0;
  ulong h = 0xcbf29ce484222325UL;
  for (int k = start[i]; k < start[i + 1]; k++) {
    uint byte = text[k];
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
    h = (h ^ byte) * 0x100000001b3UL;
  }
  adler[i] = b << 16 | a;
  fnv[i] = h;
}
// Adler-32 of the whole text by pieces: sums of a piece move on by the bytes behind it.
__kernel void pieces(__global const uchar *text, __global uint2 *sums, int bytes, int piece) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int from = i * piece, to = min(from + piece, bytes);
  if (from >= bytes)
    return;
  uint a = 0, b = 0;
  for (int k = from; k < to; k++) {
    a += text[k];
    b += (to - k) * text[k];
  }
  sums[i] = (uint2)(a % 65521, (b + (ulong)a * (bytes - to)) % 65521);
}
