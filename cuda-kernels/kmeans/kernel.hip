// golden: numpy, sums of integers
// Points to their nearest centres, whose sums go by shared atomics to global ones.
template <int DIMENSIONS>
__global__ void assign(const int *points, const int *centres, int *nearest, int *sums, int *sizes, int n, int k)
{
    extern __shared__ int part[];
    int *counts = part + k * DIMENSIONS;
    for (int i = threadIdx.x; i < k * (DIMENSIONS + 1); i += blockDim.x)
        part[i] = 0;
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        int best = 0, least = 0x7fffffff;
        for (int c = 0; c < k; c++) {
            int distance = 0;
            for (int d = 0; d < DIMENSIONS; d++) {
                int difference = points[p * DIMENSIONS + d] - centres[c * DIMENSIONS + d];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        nearest[p] = best;
        atomicAdd(&counts[best], 1);
        for (int d = 0; d < DIMENSIONS; d++)
            atomicAdd(&part[best * DIMENSIONS + d], points[p * DIMENSIONS + d]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < k * DIMENSIONS; i += blockDim.x)
        atomicAdd(&sums[i], part[i]);
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        atomicAdd(&sizes[i], counts[i]);
}
