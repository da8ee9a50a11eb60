// golden: numpy (generate.py of this folder): read_imageh and write_imageh of every image type against read_imagef, and stored halves
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define DIFFER(a, b) any(as_short4(a) != as_short4(convert_half4(b)))
__kernel void read(read_only image1d_t line, read_only image1d_array_t lines, read_only image2d_t flat, read_only image2d_array_t stack,
                   read_only image3d_t solid, read_only image1d_buffer_t row, sampler_t s, __global int *wrong) {
  int i = get_global_id(0);
  float f = i * 0.37f - 2.0f;
  int x = i % 11, y = i / 11 % 7, z = i % 3;
  int4 at = (int4)(x, y, z, 0);
  float4 place = (float4)(f, f * 0.5f, z, 0);
  int bits = 0;
  bits |= DIFFER(read_imageh(line, s, x), read_imagef(line, s, x)) << 0;
  bits |= DIFFER(read_imageh(line, s, f), read_imagef(line, s, f)) << 1;
  bits |= DIFFER(read_imageh(line, x), read_imagef(line, x)) << 2;
  bits |= DIFFER(read_imageh(lines, s, at.xz), read_imagef(lines, s, at.xz)) << 3;
  bits |= DIFFER(read_imageh(lines, s, place.xz), read_imagef(lines, s, place.xz)) << 4;
  bits |= DIFFER(read_imageh(lines, at.xz), read_imagef(lines, at.xz)) << 5;
  bits |= DIFFER(read_imageh(flat, s, at.xy), read_imagef(flat, s, at.xy)) << 6;
  bits |= DIFFER(read_imageh(flat, s, place.xy), read_imagef(flat, s, place.xy)) << 7;
  bits |= DIFFER(read_imageh(flat, at.xy), read_imagef(flat, at.xy)) << 8;
  bits |= DIFFER(read_imageh(stack, s, at), read_imagef(stack, s, at)) << 9;
  bits |= DIFFER(read_imageh(stack, s, place), read_imagef(stack, s, place)) << 10;
  bits |= DIFFER(read_imageh(stack, at), read_imagef(stack, at)) << 11;
  bits |= DIFFER(read_imageh(solid, s, at), read_imagef(solid, s, at)) << 12;
  bits |= DIFFER(read_imageh(solid, s, place), read_imagef(solid, s, place)) << 13;
  bits |= DIFFER(read_imageh(solid, at), read_imagef(solid, at)) << 14;
  bits |= DIFFER(read_imageh(row, x), read_imagef(row, x)) << 15;
  wrong[i] = bits;
}
// Every type written; each texel is the one of the plane `flat` with its coordinates.
__kernel void write(read_only image2d_t flat, write_only image1d_t line, write_only image1d_array_t lines, write_only image2d_t plane,
                    write_only image2d_array_t stack, write_only image3d_t solid, write_only image1d_buffer_t row) {
  int x = get_global_id(0), y = get_global_id(1);
  half4 texel = read_imageh(flat, (int2)(x, y));
  write_imageh(plane, (int2)(x, y), texel);
  write_imageh(stack, (int4)(x, y, 1, 0), texel);
  write_imageh(solid, (int4)(x, y, 2, 0), texel);
  if (y < 3)
    write_imageh(lines, (int2)(x, y), texel);
  if (y == 0) {
    write_imageh(line, x, texel);
    write_imageh(row, x, texel);
  }
}
// In place.
__kernel void twice(read_write image2d_t plane, read_write image3d_t solid) {
  int x = get_global_id(0), y = get_global_id(1);
  write_imageh(plane, (int2)(x, y), read_imageh(plane, (int2)(x, y)) * (half)2);
  write_imageh(solid, (int4)(x, y, 0, 0), read_imageh(solid, (int4)(x, y, 2, 0)) * (half)2);
}
