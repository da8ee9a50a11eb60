// golden: the same recurrence in Python
// Two texts compared by diagonals of a table, one block, a barrier a diagonal.
__global__ void align(const char *a, const char *b, int *table, int n, int m)
{
    int columns = m + 1;
    for (int d = 2; d <= n + m; d++) {
        int first = max(1, d - m), last = min(n, d - 1);
        for (int i = first + threadIdx.x; i <= last; i += blockDim.x) {
            int j = d - i, at = i * columns + j;
            int diagonal = table[at - columns - 1] + (a[i - 1] == b[j - 1] ? 2 : -1);
            int side = max(table[at - columns], table[at - 1]) - 1;
            table[at] = max(0, max(diagonal, side));
        }
        __syncthreads();
    }
}
