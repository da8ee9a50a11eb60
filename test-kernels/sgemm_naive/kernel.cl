// golden: numpy float64 matrix product
//
// One work-item an element of C; row-major, alpha and beta as arguments. The A access is uniform along a row, the B access is contiguous.

__kernel void sgemm(__global const float *A, __global const float *B, __global float *C, int M, int N, int K, float alpha, float beta)
{
    int col = get_global_id(0);
    int row = get_global_id(1);
    if (row >= M || col >= N)
        return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
}
