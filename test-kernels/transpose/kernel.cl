// golden: numpy transpose
//
// A tile in local memory, padded by one column against bank conflicts. Edges are guarded.

#define TILE 16

__kernel void transpose(__global const float *in, __global float *out, int width, int height)
{
    __local float tile[TILE][TILE + 1];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * TILE, by = get_group_id(1) * TILE;
    for (int r = ly; r < TILE; r += get_local_size(1))
        if (bx + lx < width && by + r < height)
            tile[r][lx] = in[(by + r) * width + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = ly; r < TILE; r += get_local_size(1))
        if (by + lx < height && bx + r < width)
            out[(bx + r) * height + by + lx] = tile[lx][r];
}
