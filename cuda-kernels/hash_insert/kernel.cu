// golden: numpy, how often each key is there
// A table with open addresses: keys of 64 bits are claimed by compare-and-swap, counts are added.
__global__ void insert(const unsigned long long *keys, unsigned long long *table, unsigned int *count, int n, unsigned int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long key = keys[i], hashed = key * 0x9e3779b97f4a7c15ull;
    for (unsigned int slot = (unsigned int)(hashed >> 40) & mask;; slot = (slot + 1) & mask) {
        unsigned long long there = atomicCAS(&table[slot], 0ull, key);
        if (there == 0 || there == key) {
            atomicAdd(&count[slot], 1u);
            return;
        }
    }
}

__global__ void look_up(const unsigned long long *keys, const unsigned long long *table, const unsigned int *count,
                        unsigned int *found, int n, unsigned int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int slot = (unsigned int)(keys[i] * 0x9e3779b97f4a7c15ull >> 40) & mask;
    while (table[slot] != keys[i])
        slot = (slot + 1) & mask;
    found[i] = count[slot];
}
