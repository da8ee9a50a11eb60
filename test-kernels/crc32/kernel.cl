// golden: Python's zlib
__kernel void crc(__global const uchar *text, __global const int *starts, __global uint *crcs, int n) {
  __local uint table[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) {
    uint c = i;
    for (int k = 0; k < 8; k++)
      c = (c >> 1) ^ (0xedb88320u & -(c & 1));
    table[i] = c;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int g = get_global_id(0);
  if (g >= n)
    return;
  uint c = ~0u;
  for (int i = starts[g]; i < starts[g + 1]; i++)
    c = table[(c ^ text[i]) & 255] ^ (c >> 8);
  crcs[g] = ~c;
}
