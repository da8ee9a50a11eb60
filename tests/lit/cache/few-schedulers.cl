// K7: an L1 that keeps the lines of a loop for fewer than eight warps of an SM is not worth fewer warps, even if one scheduler is all
// that the SM has.
// RUN: %heddle build %s --set sm.schedulers=1 --stop-after select -o - | FileCheck %s
// RUN: %heddle build %s --set sm.schedulers=1 --set memory.data.bytes=131072 --stop-after select -o - | FileCheck %s --check-prefix=LARGE

// Two rows a lane: 64 lines a warp.
// CHECK: kernel @two_matrices
// CHECK-NOT: {{^  }}working-set
// LARGE: kernel @two_matrices
// LARGE-COUNT-2: {{^  }}working-set
__kernel void two_matrices(__global const float *restrict a, __global const float *restrict b, __global const float *restrict x,
                           __global float *restrict y, int n) {
  int i = get_global_id(0);
  float s = 0, t = 0;
  for (int k = 0; k < n; k++) {
    s += a[i * n + k] * x[k];
    t += b[i * n + k] * x[k];
  }
  y[i] = s + 2.0f * t;
}
