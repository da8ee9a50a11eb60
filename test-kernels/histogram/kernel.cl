// golden: numpy bincount
//
// A histogram in local memory with local atomics, added to global memory with global atomics. The bins are a local argument.

__kernel void histogram(__global const uchar *in, __global uint *bins, __local uint *part, uint n)
{
    uint lid = get_local_id(0);
    for (uint i = lid; i < 256; i += get_local_size(0))
        part[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&part[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < 256; i += get_local_size(0)) {
        uint count = part[i];
        if (count)
            atomic_add(&bins[i], count);
    }
}
