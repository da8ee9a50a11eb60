// golden: numpy
// Each atomic of integers on a word that all work-items share, in global and in shared memory.
__global__ void global_ones(const int *in, int *word, unsigned int *turns, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&word[0], in[i]);
    atomicSub(&word[1], in[i]);
    atomicMin(&word[2], in[i]);
    atomicMax(&word[3], in[i]);
    atomicAnd(&word[4], in[i]);
    atomicOr(&word[5], in[i]);
    atomicXor(&word[6], in[i]);
    atomicInc(&turns[0], 99u);
    atomicDec(&turns[1], 99u);
}

__global__ void shared_ones(const unsigned int *in, unsigned long long *word, int n)
{
    __shared__ unsigned long long own[3];
    if (threadIdx.x == 0) {
        own[0] = 0;
        own[1] = ~0ull;
        own[2] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long v = (unsigned long long)in[i] * in[i];
        atomicAdd(&own[0], v);
        atomicMin(&own[1], v);
        atomicMax(&own[2], v);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd_system(&word[0], own[0]);
        atomicMin(&word[1], own[1]);
        atomicMax(&word[2], own[2]);
    }
}
