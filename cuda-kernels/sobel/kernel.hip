// golden: numpy integers
// Edges in a tile with its border, loaded by all work-items together.
constexpr int SIDE = 16;

__global__ void edges(const unsigned char *in, short *out, int width, int height)
{
    __shared__ int tile[SIDE + 2][SIDE + 2];
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < (SIDE + 2) * (SIDE + 2); i += SIDE * SIDE) {
        int x = blockIdx.x * SIDE + i % (SIDE + 2) - 1, y = blockIdx.y * SIDE + i / (SIDE + 2) - 1;
        x = min(max(x, 0), width - 1);
        y = min(max(y, 0), height - 1);
        tile[i / (SIDE + 2)][i % (SIDE + 2)] = in[y * width + x];
    }
    __syncthreads();
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    int (*t)[SIDE + 2] = &tile[threadIdx.y];
    int c = threadIdx.x;
    int across = t[0][c + 2] + 2 * t[1][c + 2] + t[2][c + 2] - t[0][c] - 2 * t[1][c] - t[2][c];
    int down = t[2][c] + 2 * t[2][c + 1] + t[2][c + 2] - t[0][c] - 2 * t[0][c + 1] - t[0][c + 2];
    if (x < width && y < height)
        out[y * width + x] = (short)min(abs(across) + abs(down), 32767);
}
