// golden: breadth-first search in Python
// One level of a search; a vertex belongs to whoever changes its level first.
__global__ void step(const int *start, const int *edge, int *level, int *changed, int now, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != now)
        return;
    for (int e = start[v]; e < start[v + 1]; e++)
        if (atomicCAS(&level[edge[e]], -1, now + 1) == -1)
            atomicAdd(changed, 1);
}
