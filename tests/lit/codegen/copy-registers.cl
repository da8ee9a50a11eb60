// A large structure goes through few registers: 32 words are stored before more are loaded.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
typedef struct { int4 v[40]; } large;
// CHECK: "main_registers":{{[1-3]?[0-9]}},
// CHECK-COUNT-8: ld.global.b128
// CHECK-COUNT-8: st.global.b128
// CHECK: ld.global.b128
kernel void copied(global large *from, global large *to) { to[get_global_id(0)] = from[get_global_id(0)]; }
