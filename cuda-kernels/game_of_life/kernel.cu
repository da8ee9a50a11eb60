// golden: numpy
// Cells of a torus, 32 in a word: neighbours by funnel shifts, sums by full adders of bits.
__device__ void add(unsigned int a, unsigned int b, unsigned int c, unsigned int &sum, unsigned int &carry)
{
    sum = a ^ b ^ c;
    carry = (a & b) | (c & (a ^ b));
}

__global__ void generation(const unsigned int *from, unsigned int *to, int words, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= words)
        return;
    unsigned int low[3], high[3], own = from[y * words + x];
    for (int r = 0; r < 3; r++) {
        const unsigned int *row = from + (y + r - 1 + rows) % rows * words;
        unsigned int middle = row[x], left = row[(x + words - 1) % words], right = row[(x + 1) % words];
        unsigned int west = __funnelshift_l(left, middle, 1), east = __funnelshift_r(middle, right, 1);
        add(west, east, r == 1 ? 0u : middle, low[r], high[r]);
    }
    unsigned int ones, c1, twos, c2, twos2, c3;
    add(low[0], low[1], low[2], ones, c1);
    add(high[0], high[1], high[2], twos, c2);
    add(twos, c1, 0u, twos2, c3);
    unsigned int two_or_three = twos2 & ~(c2 | c3);
    to[y * words + x] = two_or_three & (ones | own);
}
