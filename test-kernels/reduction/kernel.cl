// golden: numpy float64 sum; numpy int64 minimum, maximum and exclusive or
//
// A grid-stride loop, then a tree in local memory whose size is a kernel argument. The work-group size is no power of two.

__kernel void reduce_sum(__global const float *in, __global float *out, __local float *scratch, uint n)
{
    uint lid = get_local_id(0);
    uint size = get_local_size(0);
    float acc = 0.0f;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        acc += in[i];
    scratch[lid] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 512; s > 0; s >>= 1) {
        if (lid < s && lid + s < size)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        out[get_group_id(0)] = scratch[0];
}

// out: 3 numbers a work-group: minimum, maximum, exclusive or. Two local arguments.
__kernel void reduce_int(__global const int *in, __global int *out, __local int2 *extremes, __local int *bits, uint n)
{
    uint lid = get_local_id(0);
    uint size = get_local_size(0);
    int2 e = (int2)(INT_MAX, INT_MIN);
    int x = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        int v = in[i];
        e = (int2)(min(e.x, v), max(e.y, v));
        x ^= v;
    }
    extremes[lid] = e;
    bits[lid] = x;
    for (uint count = size; count > 1;) {
        uint half_up = (count + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < count / 2) {
            int2 o = extremes[lid + half_up];
            e = (int2)(min(e.x, o.x), max(e.y, o.y));
            extremes[lid] = e;
            bits[lid] ^= bits[lid + half_up];
        }
        count = half_up;
    }
    if (lid == 0)
        vstore3((int3)(e, bits[0]), get_group_id(0), out);
}
