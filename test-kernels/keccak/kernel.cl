// golden: Python's hashlib
__constant ulong rounds[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
    0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
__constant uchar turns[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
__constant uchar lanes[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
// SHA3-256 of messages of 64 bytes: 25 private words of 64 bits with indices from tables.
__kernel void sha3(__global const ulong *messages, __global ulong4 *digests, int count) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  ulong s[25], c[5];
  for (int k = 0; k < 25; k++)
    s[k] = k < 8 ? messages[i * 8 + k] : 0;
  s[8] = 0x06;
  s[16] = 1UL << 63;
  for (int round = 0; round < 24; round++) {
    for (int k = 0; k < 5; k++)
      c[k] = s[k] ^ s[k + 5] ^ s[k + 10] ^ s[k + 15] ^ s[k + 20];
    for (int k = 0; k < 5; k++) {
      ulong d = c[(k + 4) % 5] ^ rotate(c[(k + 1) % 5], 1UL);
      for (int j = k; j < 25; j += 5)
        s[j] ^= d;
    }
    ulong moving = s[1];
    for (int k = 0; k < 24; k++) {
      ulong other = s[lanes[k]];
      s[lanes[k]] = rotate(moving, (ulong)turns[k]);
      moving = other;
    }
    for (int j = 0; j < 25; j += 5) {
      for (int k = 0; k < 5; k++)
        c[k] = s[j + k];
      for (int k = 0; k < 5; k++)
        s[j + k] = c[k] ^ (~c[(k + 1) % 5] & c[(k + 2) % 5]);
    }
    s[0] ^= rounds[round];
  }
  digests[i] = (ulong4)(s[0], s[1], s[2], s[3]);
}
