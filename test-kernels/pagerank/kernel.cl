// golden: numpy float64 with error bounds
__kernel void pull(__global const int *rows, __global const int *columns, __global const int *degree, __global const float *rank, __global float *next,
                   float base, float damping) {
  int v = get_global_id(0);
  float sum = 0.0f;
  for (int k = rows[v]; k < rows[v + 1]; k++) {
    int from = columns[k];
    sum += rank[from] / (float)degree[from];
  }
  next[v] = base + damping * sum;
}
