// golden: ChaCha20 in Python integers, checked with the vector of RFC 8439
#define QUARTER(a, b, c, d) \
  a += b; d = rotate(d ^ a, 16u); c += d; b = rotate(b ^ c, 12u); \
  a += b; d = rotate(d ^ a, 8u); c += d; b = rotate(b ^ c, 7u);
// A block of 64 bytes a work-item; the state is 16 private words.
__kernel void encrypt(__constant uint *key, __global const uchar *in, __global uchar *out, uint first, uint3 nonce, int bytes) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i * 64 >= bytes)
    return;
  uint s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
                first + i, nonce.x, nonce.y, nonce.z};
  uint x[16];
  for (int k = 0; k < 16; k++)
    x[k] = s[k];
  for (int round = 0; round < 10; round++) {
    QUARTER(x[0], x[4], x[8], x[12])
    QUARTER(x[1], x[5], x[9], x[13])
    QUARTER(x[2], x[6], x[10], x[14])
    QUARTER(x[3], x[7], x[11], x[15])
    QUARTER(x[0], x[5], x[10], x[15])
    QUARTER(x[1], x[6], x[11], x[12])
    QUARTER(x[2], x[7], x[8], x[13])
    QUARTER(x[3], x[4], x[9], x[14])
  }
  for (int k = 0; k < 16; k++) {
    uint word = x[k] + s[k];
    for (int b = 0; b < 4; b++) {
      int at = i * 64 + k * 4 + b;
      if (at < bytes)
        out[at] = in[at] ^ (uchar)(word >> 8 * b);
    }
  }
}
