// golden: the same generator in Python's integers
// Points in a square: a generator of xorshift kind in each work-item, counts in 64 bits.
__device__ unsigned int next(unsigned int &state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__global__ void points(unsigned long long *inside, int rounds)
{
    unsigned int state = 2463534242u + 7919u * (blockIdx.x * blockDim.x + threadIdx.x);
    unsigned int hits = 0;
    for (int i = 0; i < rounds; i++) {
        unsigned long long x = next(state) >> 16, y = next(state) >> 16;
        hits += x * x + y * y < 1ull << 32;
    }
    atomicAdd(inside, (unsigned long long)hits);
}
