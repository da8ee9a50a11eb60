// golden: numpy float64 matrix product
//
// Tiles in static local arrays, two barriers a tile. All sizes are odd against the tile, so the edges are guarded without leaving the
// barriers' uniform control flow.

#ifndef TILE
#define TILE 8
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void sgemm_tiled(__global const float *A, __global const float *B, __global float *C, int M, int N, int K)
{
    __local float a[TILE][TILE];
    __local float b[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1);
    int col = get_group_id(0) * TILE + lx;
    int row = get_group_id(1) * TILE + ly;
    float acc = 0.0f;
    for (int t = 0; t < K; t += TILE) {
        a[ly][lx] = row < M && t + lx < K ? A[row * K + t + lx] : 0.0f;
        b[ly][lx] = col < N && t + ly < K ? B[(t + ly) * N + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            acc = fma(a[ly][k], b[k][lx], acc);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}
