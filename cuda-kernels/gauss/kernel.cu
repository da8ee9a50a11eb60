// golden: numpy integers modulo a prime
// Elimination modulo a prime, a launch a column: no divisions, 64-bit products.
__global__ void eliminate(unsigned int *m, int n, int k, unsigned int prime)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > n || x <= k || y >= n || y <= k)
        return;
    unsigned long long width = n + 1;
    unsigned long long own = m[y * width + x], pivot = m[k * width + k];
    unsigned long long left = m[y * width + k], top = m[k * width + x];
    m[y * width + x] = (unsigned int)((own * pivot + (prime - left) * top) % prime);
}
