// golden: numpy, sorted, as warps come in any order
// What is positive is packed: a ballot tells each lane its place, and one lane of a warp reserves room.
__global__ void compact(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    bool keep = i < n && in[i] > 0;
    unsigned int kept = __ballot_sync(__activemask(), keep);
    int base = 0;
    if (lane == 0)
        base = atomicAdd(count, __popc(kept));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep)
        out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}
