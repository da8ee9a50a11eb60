/* Kernel of ../sgemm.py: c = a b, row by row, in tiles of TILE × TILE that a work-group keeps in local
 * memory. Sizes need not be multiples of TILE. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void sgemm(int m, int n, int k, __global const float *a, __global const float *b, __global float *c) {
    __local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        a_tile[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
        b_tile[y][x] = column < n && first + y < k ? b[(first + y) * n + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += a_tile[y][i] * b_tile[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
