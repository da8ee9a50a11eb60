// golden: numpy, integers
// For warps of 32 lanes.
// Reductions and scans of cooperative groups, structures that are streamed, and a host program in the same file.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ int largest(const cg::thread_block_tile<32> &warp, int v)
{
    return cg::reduce(warp, v, cg::greater<int>{});
}

__global__ void reduce(const int *a, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, v = a[i];
    out[i] = cg::reduce(eight, v, cg::plus<int>{});
    out[n + i] = largest(cg::tiled_partition<32>(block), v);
    out[2 * n + i] = cg::inclusive_scan(eight, v);
    out[3 * n + i] = cg::exclusive_scan(warp, v, cg::bit_xor<int>{});
    if (v % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        out[4 * n + i] = cg::reduce(some, v, cg::less<int>{});
        out[5 * n + i] = cg::inclusive_scan(some, v);
    }
}

__global__ void stream(const int4 *a, int4 *out, unsigned n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = __ldcs(&a[min(i, n - 1)]), w = __ldcv(&a[max(0, 5)]);
    v.x += w.y;
    memcpy(&v.z, &w.w, sizeof v.z);
    __stcs(&out[i], v);
}

#define CHECK(call)                                                                                                   \
    do {                                                                                                              \
        cudaError_t error = call;                                                                                     \
        if (error != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s\n", cudaGetErrorString(error));                                                       \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1, *a, *out;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    cudaStream_t stream_of_copies;
    CHECK(cudaStreamCreate(&stream_of_copies));
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMallocManaged((void **)&out, 6 * n * sizeof *out));
    CHECK(cudaMemcpyAsync(a, out, n * sizeof(int), cudaMemcpyHostToDevice, stream_of_copies));
    CHECK(cudaFuncSetAttribute(reduce, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    reduce<<<(n + 63) / 64, 64, 0, stream_of_copies>>>(a, out);
    stream<<<dim3(max(n / 64, 1)), dim3(64)>>>((const int4 *)a, (int4 *)out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("%s %d %f\n", properties.name, out[0], sqrt((double)n));
    CHECK(cudaFree(a));
    return 0;
}
