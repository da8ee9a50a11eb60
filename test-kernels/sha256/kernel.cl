// golden: Python's hashlib
__constant uint table[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__constant uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
uint swap(uint x) { return as_uint(as_uchar4(x).wzyx); }
uint right(uint x, uint by) { return rotate(x, 32 - by); }
__kernel void sha256(__global const uint *blocks, __global uint *digests) {
  int g = get_global_id(0);
  uint w[16], h[8];
#pragma unroll 1
  for (int i = 0; i < 16; i++)
    w[i] = swap(blocks[g * 16 + i]);
  for (int i = 0; i < 8; i++)
    h[i] = start[i];
#pragma unroll 1
  for (int i = 0; i < 64; i++) {
    uint v = w[i & 15];
    if (i >= 16) {
      uint a = w[(i + 1) & 15], b = w[(i + 14) & 15];
      v += (right(a, 7) ^ right(a, 18) ^ (a >> 3)) + w[(i + 9) & 15] + (right(b, 17) ^ right(b, 19) ^ (b >> 10));
      w[i & 15] = v;
    }
    uint t = h[7] + (right(h[4], 6) ^ right(h[4], 11) ^ right(h[4], 25)) + bitselect(h[6], h[5], h[4]) + table[i] + v;
    uint u = (right(h[0], 2) ^ right(h[0], 13) ^ right(h[0], 22)) + bitselect(h[0], h[1], h[0] ^ h[2]);
    for (int k = 7; k > 0; k--)
      h[k] = h[k - 1];
    h[4] += t;
    h[0] = t + u;
  }
  for (int i = 0; i < 8; i++)
    digests[g * 8 + i] = swap(h[i] + start[i]);
}
