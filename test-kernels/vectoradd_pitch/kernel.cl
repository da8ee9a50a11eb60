// golden: numpy float64 sum rounded to float32 (one addition, so the result is exactly determined)
//
// Pitched 2-D addressing with constant offsets (G-ex1). The pitches are arguments.

__kernel void VectorAdd(__global const float4 *A, __global const float4 *B, __global float4 *C, int WA, int WB, int WC)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    C[y * WC + x] = A[(y + 2) * WA + x + 5] + B[(y + 3) * WB + x + 6];
}
