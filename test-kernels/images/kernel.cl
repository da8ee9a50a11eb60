// golden: PoCL (generate.py of this folder): every shape, sampler and several formats; nearest exact, linear within the specification's bound
__kernel void read2d(read_only image2d_t in, sampler_t s, __global const float4 *at, __global float4 *out) {
  size_t i = get_global_id(0);
  out[i] = read_imagef(in, s, at[i].xy);
}
__kernel void read1d(read_only image1d_t in, sampler_t s, __global const float4 *at, __global float4 *out) {
  size_t i = get_global_id(0);
  out[i] = read_imagef(in, s, at[i].x);
}
__kernel void read3d(read_only image3d_t in, sampler_t s, __global const float4 *at, __global float4 *out) {
  size_t i = get_global_id(0);
  out[i] = read_imagef(in, s, at[i]);
}
__kernel void read2d_array(read_only image2d_array_t in, sampler_t s, __global const float4 *at, __global float4 *out) {
  size_t i = get_global_id(0);
  out[i] = read_imagef(in, s, (float4)(at[i].xy, i % 4, 0.0f));
}
__kernel void read_int(read_only image2d_t in, sampler_t s, __global const float4 *at, __global int4 *out) {
  size_t i = get_global_id(0);
  out[i] = read_imagei(in, s, convert_int2_rtn(at[i].xy));
}
__kernel void read_uint(read_only image2d_t in, sampler_t s, __global const float4 *at, __global uint4 *out) {
  size_t i = get_global_id(0);
  out[i] = read_imageui(in, s, convert_int2_rtn(at[i].xy));
}
// Sampler-less reads, conversion on writing, queries.
__kernel void convert(read_only image2d_t in, write_only image2d_t out, __global int *shape) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  if (p.x >= get_image_width(in) || p.y >= get_image_height(in))
    return;
  write_imagef(out, p, read_imagef(in, p) * 1.25f - 0.1f);
  if (p.x + p.y == 0) {
    shape[0] = get_image_width(out);
    shape[1] = get_image_dim(in).y;
    shape[2] = get_image_channel_order(out) - CLK_R;
    shape[3] = get_image_channel_data_type(in) - CLK_SNORM_INT8;
  }
}
