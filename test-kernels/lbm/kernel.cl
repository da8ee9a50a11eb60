// golden: numpy float64 with error bounds
__constant int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant float weight[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
__kernel void collide_and_push(__global const float *from, __global float *to, __global const uchar *solid, int w, int h, float omega) {
  int x = get_global_id(0), y = get_global_id(1), at = y * w + x, plane = w * h;
  if (x >= w || y >= h)
    return;
  float rho = from[at], ux = 0.0f, uy = 0.0f;
  for (int k = 1; k < 9; k++) {
    float f = from[k * plane + at];
    rho += f;
    ux += cx[k] * f;
    uy += cy[k] * f;
  }
  ux /= rho;
  uy /= rho;
  float base = 1.0f - 1.5f * (ux * ux + uy * uy);
  bool bounce = solid[at];
  for (int k = 0; k < 9; k++) {
    float value;
    if (bounce) {
      value = from[opposite[k] * plane + at];
    } else {
      float cu = (float)(3 * cx[k]) * ux + (float)(3 * cy[k]) * uy, f = from[k * plane + at];
      value = f + omega * (weight[k] * rho * (base + cu + cu * cu * 0.5f) - f);
    }
    int tx = x + cx[k], ty = y + cy[k];
    tx = tx < 0 ? w - 1 : tx == w ? 0 : tx;
    ty = ty < 0 ? h - 1 : ty == h ? 0 : ty;
    to[k * plane + ty * w + tx] = value;
  }
}
