// golden: numpy int64 cumulative sum, wrapped to 32 bits
//
// Inclusive prefix sum of an array: a scan in each work-group, a scan of the groups' totals, and a pass that adds them.

#define GROUP 100

__kernel void scan_groups(__global const int *in, __global int *out, __global int *totals, uint n)
{
    __local int buffer[2][GROUP];
    uint lid = get_local_id(0);
    uint gid = get_global_id(0);
    int which = 0;
    buffer[0][lid] = gid < n ? in[gid] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < GROUP; d <<= 1) {
        int v = buffer[which][lid];
        if (lid >= d)
            v += buffer[which][lid - d];
        which ^= 1;
        buffer[which][lid] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (gid < n)
        out[gid] = buffer[which][lid];
    if (lid == GROUP - 1)
        totals[get_group_id(0)] = buffer[which][lid];
}

__kernel void add_totals(__global int *out, __global const int *totals, uint n)
{
    uint gid = get_global_id(0);
    uint group = get_group_id(0);
    int before = 0;
    for (uint g = 0; g < group; ++g)
        before += totals[g];
    if (gid < n)
        out[gid] += before;
}
