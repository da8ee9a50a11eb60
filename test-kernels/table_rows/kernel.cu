// golden: numpy float64; one rounding
extern "C" __global__ void scaled_rows(const float4 *table, const int *idx, const float4 *w, float4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 row = table[idx[i]], by = w[i];
    out[i] = make_float4(row.x * by.x, row.y * by.y, row.z * by.z, row.w * by.w);
  }
}
