// Iterations of z = z*z + c until |z| > 2, one point a work-item.
__kernel void mandelbrot(__global int *out, int width, int limit, float x0, float y0, float step) {
  int i = get_global_id(0), j = get_global_id(1);
  float cx = x0 + step * i, cy = y0 + step * j, x = 0.0f, y = 0.0f;
  int n = 0;
  while (n < limit && x * x + y * y <= 4.0f) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    n++;
  }
  out[j * width + i] = n;
}
