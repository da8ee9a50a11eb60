// golden: numpy sort
//
// A bitonic network: one launch a step in global memory, and the whole network in one work-group in local memory.

__kernel void bitonic_step(__global uint *keys, __global uint *values, uint stage, uint pass)
{
    uint i = get_global_id(0);
    uint distance = 1u << (stage - pass);
    uint left = (i & (distance - 1)) | ((i & ~(distance - 1)) << 1);
    uint right = left + distance;
    bool ascending = ((i >> stage) & 1) == 0;
    uint a = keys[left];
    uint b = keys[right];
    if ((a > b) == ascending) {
        uint v = values[left];
        keys[left] = b;
        keys[right] = a;
        values[left] = values[right];
        values[right] = v;
    }
}

__kernel void bitonic_local(__global float *data, __local float *tile, uint n)
{
    uint lid = get_local_id(0);
    for (uint i = lid; i < n; i += get_local_size(0))
        tile[i] = data[get_group_id(0) * n + i];
    for (uint size = 2; size <= n; size <<= 1)
        for (uint distance = size >> 1; distance > 0; distance >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = lid; i < n / 2; i += get_local_size(0)) {
                uint left = 2 * distance * (i / distance) + i % distance;
                float a = tile[left], b = tile[left + distance];
                bool descending = left & size;
                if (descending ? a < b : a > b) {
                    tile[left] = b;
                    tile[left + distance] = a;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < n; i += get_local_size(0))
        data[get_group_id(0) * n + i] = tile[i];
}
