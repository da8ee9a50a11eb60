// golden: Python integers
#define DELTA 0x9e3779b9u
// Blocks in chains: a chain a work-item there, a block a work-item back.
__kernel void encrypt(__global uint2 *data, __constant uint *key, int chains, int length, uint2 start) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= chains)
    return;
  uint2 last = start + (uint2)(i, 0);
  for (int k = 0; k < length; k++) {
    uint2 v = data[i * length + k] ^ last;
    uint sum = 0;
    for (int round = 0; round < 32; round++) {
      v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + key[sum & 3]);
      sum += DELTA;
      v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + key[sum >> 11 & 3]);
    }
    data[i * length + k] = last = v;
  }
}
__kernel void decrypt(__global const uint2 *data, __global uint2 *plain, __constant uint *key, int blocks, int length, uint2 start) {
  int at = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (at >= blocks)
    return;
  uint2 v = data[at];
  uint sum = DELTA * 32;
  for (int round = 0; round < 32; round++) {
    v.y -= ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + key[sum >> 11 & 3]);
    sum -= DELTA;
    v.x -= ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + key[sum & 3]);
  }
  plain[at] = v ^ (at % length == 0 ? start + (uint2)(at / length, 0) : data[at - 1]);
}
