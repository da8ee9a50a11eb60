// golden: numpy integers
// A picture turned and scaled by whole numbers of 1/1024, nearest pixels through a sampler; beyond the border it is empty.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__kernel void warp(read_only image2d_t in, write_only image2d_t out, int4 matrix, int2 shift) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= get_image_width(out) || y >= get_image_height(out))
    return;
  int2 from = (int2)(matrix.x * x + matrix.y * y, matrix.z * x + matrix.w * y) + shift;
  uint4 v = read_imageui(in, nearest, from >> 10);
  write_imageui(out, (int2)(x, y), (uint4)(v.zyx, v.w / 2));
}
