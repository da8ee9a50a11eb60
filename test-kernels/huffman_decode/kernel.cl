// golden: the text that was encoded
// A block a work-item: bits from the top of words, codes of up to seven bits by a table in constant memory.
__kernel void decode(__global const uint *words, __global const int *start, __constant ushort *table, __global uchar *out, int blocks, int letters) {
  int b = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (b >= blocks)
    return;
  int at = start[b];
  ulong window = (ulong)words[at] << 32 | words[at + 1];
  at += 2;
  int held = 64;
  for (int k = 0; k < letters; k++) {
    ushort entry = table[window >> 57];
    out[b * letters + k] = entry & 255;
    int length = entry >> 8;
    window <<= length;
    held -= length;
    if (held <= 32) {
      window |= (ulong)words[at++] << (32 - held);
      held += 32;
    }
  }
}
