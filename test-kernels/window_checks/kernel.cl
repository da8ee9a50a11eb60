// golden: numpy float64 with error bounds
// Image libraries write so for pictures of any kind: a macro reads zero outside, ids and coordinates are int.
#define READ(image, x, y) ((x) >= 0 && (x) < width && (y) >= 0 && (y) < height ? (image)[(y) * pitch + (x)] : 0.0f)
__kernel void correlate(__global const float *in, __global const float *weight, __global float *out, int width, int height,
                        int pitch, int rx, int ry) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  float sum = 0;
  for (int j = -ry; j <= ry; j++)
    for (int i = -rx; i <= rx; i++) {
      float w = weight[(j + ry) * (2 * rx + 1) + i + rx];
      if (w != 0)
        sum += w * READ(in, x + i, y + j);
    }
  out[y * pitch + x] = sum;
}
