// Integers of more than 64 bits, as LLVM makes them of vectors that are read as other vectors: moved, shifted by constants, masked, compared.
typedef unsigned __int128 wide;
typedef union {
  wide i;
  uint4 v;
  uchar b[16];
} parts;

__constant wide pattern = ((wide)0x0123456789abcdefUL << 64) | 0xfedcba9876543210UL;

__kernel void wide_integers(__global const uint4 *in, __global uint4 *out, uint chosen) {
  uint id = get_global_id(0);
  parts a = {.v = in[id]};
  parts b = {.v = in[(id + 1) % get_global_size(0)]};
  __global uint4 *mine = out + id * 24;
  parts r;
#define PUT(k, e) r.i = (e), mine[k] = r.v
  PUT(0, a.i << 1);
  PUT(1, a.i << 40);
  PUT(2, a.i << 64);
  PUT(3, a.i << 101);
  PUT(4, a.i >> 7);
  PUT(5, a.i >> 32);
  PUT(6, a.i >> 75);
  PUT(7, (wide)((__int128)a.i >> 33));
  PUT(8, (wide)((__int128)a.i >> 127));
  PUT(9, (a.i & pattern) | (b.i ^ ~pattern));
  PUT(10, (wide)(__int128)(int)a.v.x);
  PUT(11, (wide)a.v.y << 60 | (ulong)(b.i >> 90));
  PUT(12, (wide)(__int128)(short)(a.i >> 50));
  PUT(13, a.i == b.i ? pattern : (a.i >> 64) != (b.i >> 64) ? b.i : a.i);
  // A value that goes around a loop, with a shift that depends on the work-item.
  wide sum = a.i;
  for (uint k = 0; k < id % 5; k++)
    sum = (sum << 9) ^ b.i;
  PUT(14, sum);
  // Elements of vectors of bytes, picked while the kernel runs.
  uchar16 bytes = as_uchar16(a.v);
  wide rotated = a.i << 24 | a.i >> 104;
  r.i = rotated;
  r.b[chosen % 16] = bytes.s5;
  mine[15] = r.v;
  wide both[2] = {a.i, b.i};
  PUT(16, both[(id + chosen) & 1] >> 16);
  PUT(17, (wide)(a.i >> 127 ? 1 : 0) << 126);
  PUT(18, (wide)(a.i == (wide)a.v.x) | (wide)((uchar)(a.i >> 68)) << 8);
  PUT(19, pattern);
  PUT(20, a.i + b.i);
  PUT(21, a.i - b.i);
  PUT(22, a.i + 1 - pattern);
  mine[23] = (uint4)((a.i < b.i) + 2 * (a.i <= b.i), (a.i > pattern) + 2 * (a.i >= b.i), ((__int128)a.i < (__int128)b.i) + 2 * ((__int128)a.i <= -5),
                     ((__int128)a.i > (__int128)b.i) + 2 * ((__int128)a.i >= (__int128)b.i));
}
