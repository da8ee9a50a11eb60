// The number of registers decides how many warps are resident. Where more warps hide more latency than a few spills cost, the kernel gets fewer registers than it
// could use; where all warps fit anyway it gets what it needs.
// RUN: %heddle build %s --regfile=single --emit asm --verify -o - | FileCheck %s --check-prefix=PLENTY
// RUN: %heddle build %s --regfile=single --emit asm --verify --set sm.main-registers=12288 -o - | FileCheck %s --check-prefix=SCARCE
// PLENTY: "private_bytes":0,"main_registers":{{2[4-9]|3[0-2]}}
// PLENTY-NOT: .private
// SCARCE: "main_registers":{{1[89]|2[0-3]}},
// SCARCE: st.private
__kernel void k(__global float *restrict out, __global const float *in, __global const int *index) {
  int i = get_global_id(0);
  float v[24];
#pragma unroll
  for (int k = 0; k < 24; k++)
    v[k] = in[i + 1024 * k];
  for (int j = 0; j < 64; j++) {
    int at = i;
    for (int k = 0; k < 16; k++)
      at = index[at];
    out[at] += 1.0f;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 24; k++)
    sum = sum * 0.5f + v[k];
  out[i] = sum;
}
