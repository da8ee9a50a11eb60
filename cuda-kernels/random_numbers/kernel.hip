// golden: the same generator in numpy
// Philox with four words and ten rounds: products of 64 bits, vectors of four.
__device__ uint4 round(uint4 c, uint2 key)
{
    unsigned int h0 = __umulhi(0xd2511f53u, c.x), h1 = __umulhi(0xcd9e8d57u, c.z);
    return make_uint4(h1 ^ c.y ^ key.x, 0xcd9e8d57u * c.z, h0 ^ c.w ^ key.y, 0xd2511f53u * c.x);
}

__global__ void philox(uint4 *out, uint2 key)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 c = make_uint4(i, 0, 0, 0);
    for (int r = 0; r < 10; r++) {
        c = round(c, key);
        key = make_uint2(key.x + 0x9e3779b9u, key.y + 0xbb67ae85u);
    }
    out[i] = c;
}
