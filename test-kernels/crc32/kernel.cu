// golden: Python's zlib
extern "C" __global__ void crc(const unsigned char *text, const int *starts, unsigned *crcs, int n) {
  __shared__ unsigned table[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned c = i;
    for (int k = 0; k < 8; k++)
      c = (c >> 1) ^ (0xedb88320u & -(c & 1));
    table[i] = c;
  }
  __syncthreads();
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  unsigned c = ~0u;
  for (int i = starts[g]; i < starts[g + 1]; i++)
    c = table[(c ^ text[i]) & 255] ^ (c >> 8);
  crcs[g] = ~c;
}
