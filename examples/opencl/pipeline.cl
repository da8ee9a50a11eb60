/* Kernels of pipeline.c. */

/* A number for each place in the stream: the finaliser of a 32-bit hash. The host has the same. */
uint number(uint v) {
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ v >> 16;
}

/* Fills a block of the stream that begins at place `first`. */
__kernel void produce(__global uint *block, uint first) {
    size_t i = get_global_id(0);
    block[i] = number(first + (uint)i);
}

/* Adds a block's numbers to the histogram of their lowest eight bits, and all of them to a checksum
 * that depends on the order of the blocks: work-item 0 of the first group folds the block's first
 * number into it. */
__kernel void consume(__global const uint *block, __global uint *histogram, __global uint *chain, __local uint *bins) {
    size_t l = get_local_id(0), i = get_global_id(0);
    for (size_t b = l; b < 256; b += get_local_size(0))
        bins[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[block[i] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t b = l; b < 256; b += get_local_size(0))
        if (bins[b] != 0)
            atomic_add(&histogram[b], bins[b]);
    if (i == 0)
        *chain = number(*chain ^ block[0]);
}
