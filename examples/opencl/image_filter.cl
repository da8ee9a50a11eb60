/* Kernels of image_filter.c. */

__constant sampler_t pixels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

/* A filter of (2 * radius + 1)² weights; what is beyond the edge is the edge's own colour. */
__kernel void blur(__read_only image2d_t in, __write_only image2d_t out, __constant float *weights, int radius) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= get_image_width(out) || at.y >= get_image_height(out))
        return;
    float4 sum = (float4)(0.0f);
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++)
            sum += *weights++ * read_imagef(in, pixels, at + (int2)(x, y));
    write_imagef(out, at, sum);
}

/* Another size: the host's sampler interpolates. */
__kernel void resize(__read_only image2d_t in, __write_only image2d_t out, sampler_t smooth) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    int2 size = get_image_dim(out);
    if (at.x >= size.x || at.y >= size.y)
        return;
    float2 where = (convert_float2(at) + 0.5f) / convert_float2(size);
    write_imagef(out, at, read_imagef(in, smooth, where));
}
