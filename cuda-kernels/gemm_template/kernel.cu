// golden: numpy, products of small integers, exact
// A matrix product by tiles whose size is an argument of the template.
template <typename T, int N>
__global__ void gemm(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, int m, int n, int k)
{
    __shared__ T ta[N][N], tb[N][N];
    int row = blockIdx.y * N + threadIdx.y, column = blockIdx.x * N + threadIdx.x;
    T sum = 0;
    for (int step = 0; step < k; step += N) {
        ta[threadIdx.y][threadIdx.x] = row < m && step + threadIdx.x < k ? a[row * k + step + threadIdx.x] : T(0);
        tb[threadIdx.y][threadIdx.x] = step + threadIdx.y < k && column < n ? b[(step + threadIdx.y) * n + column] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < N; i++)
            sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
