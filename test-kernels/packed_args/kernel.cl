// golden: Python integers
// No field but the first is where its type wants to be.
typedef struct __attribute__((packed)) { char first; uint word; uchar3 three; ushort pair[2]; long big; float f; double d; } Packed;
__kernel void unaligned(Packed p, __global long *sums, Packed q) {
  int i = get_global_id(0);
  sums[i] = p.first + p.word + p.three.y * p.pair[1] + (p.big ^ q.big) + (long)(p.f + q.f) + (long)(q.d - p.d) + q.pair[i & 1];
}
