// Arithmetic of the bytes and half words of words: with and without saturation, extremes, comparisons, sums of differences.
#define BOTH(name) do { at[k++] = name##4(x, y); at[k++] = name##2(x, y); } while (0)
#define ONE(name) do { at[k++] = name##4(x); at[k++] = name##2(x); } while (0)

__global__ void parts(const uint32_t *a, const uint32_t *b, uint32_t *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  if (i >= n) return;
  uint32_t x = a[i], y = b[i], *at = o + 40 * i;
  BOTH(__vadd); BOTH(__vaddss); BOTH(__vaddus); BOTH(__vsub); BOTH(__vsubss); BOTH(__vsubus);
  BOTH(__vavgu); BOTH(__vhaddu); BOTH(__vabsdiffs); BOTH(__vabsdiffu); BOTH(__vmaxs); BOTH(__vminu);
  BOTH(__vcmpgts); BOTH(__vsetleu); BOTH(__vcmpeq); BOTH(__vsadu);
  ONE(__vabs); ONE(__vabsss); ONE(__vneg); ONE(__vnegss);
}
