// Main overflow: values live in private memory between their uses.
// RUN: %heddle build %s --regfile=single --no-schedule --emit asm -o - --max-registers 8 --verify | FileCheck %s
// RUN: %heddle build %s --regfile=single --no-schedule --emit asm -o - --verify | FileCheck %s --check-prefix=ROOM
// CHECK: st.private
// CHECK: ld.private
// ROOM-NOT: private.b
__kernel void k(__global float *a) {
  float x[12];
  for (int i = 0; i < 12; i++)
    x[i] = a[get_global_id(0) + 64 * i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  float s = 1.0f;
  for (int i = 0; i < 12; i++)
    s = s * x[i] + x[11 - i];
  a[get_global_id(0)] = s;
}
