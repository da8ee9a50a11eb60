// golden: numpy integers
// A layer on bytes: products of char4, sums of 32 bits, brought back to bytes by a 64-bit product and a rounding shift.
__kernel void layer(__global const char4 *x, __global const char4 *weight, __global const int *bias, __global char *out, int rows, int columns, int quads, int scale, int shift) {
  int j = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int i = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (i >= rows || j >= columns)
    return;
  int sum = bias[j];
  for (int k = 0; k < quads; k++) {
    int4 p = convert_int4(x[i * quads + k]) * convert_int4(weight[j * quads + k]);
    sum += p.x + p.y + p.z + p.w;
  }
  long wide = ((long)sum * scale + (1L << (shift - 1))) >> shift;
  out[i * columns + j] = convert_char_sat(wide);
}
