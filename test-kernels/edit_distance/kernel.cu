// golden: dynamic programming in Python
typedef unsigned long long word;
extern "C" __global__ void edit(const unsigned char *pattern, const unsigned char *text, const int *starts, int *distance, int length) {
  __shared__ word masks[4];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < 4) {
    word m = 0;
    for (int k = 0; k < length; k++)
      m |= (word)(pattern[k] == t) << k;
    masks[t] = m;
  }
  __syncthreads();
  word up = ~0ULL, down = 0, last = 1ULL << (length - 1);
  int score = length;
  for (int k = starts[i]; k < starts[i + 1]; k++) {
    word eq = masks[text[k]], v = eq | down;
    eq |= ((eq & up) + up) ^ up; // the horizontal runs
    word rise = down | ~(eq | up), fall = up & eq;
    score += (rise & last) != 0;
    score -= (fall & last) != 0;
    rise = rise << 1 | 1; // the first row rises by one a column
    fall <<= 1;
    up = fall | ~(v | rise);
    down = rise & v;
  }
  distance[i] = score;
}
