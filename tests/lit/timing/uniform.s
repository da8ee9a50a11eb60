; ldu goes through the uniform L1 (110) and the L1.5 (20), as constant.s does with the constant one.

; 11000 + 1070 + 115 + 740 + 135 + 60 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.uniform.index=linear --json - | FileCheck %s
; CHECK: "cycles": 13122,

; Three look-ups, and the code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.uniform.index=linear --set memory.l15.latency=21 --json - | FileCheck %s --check-prefix=L15
; L15: "cycles": 13126,

; Four look-ups.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.uniform.index=linear --set memory.uniform.latency=111 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 13126,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ldu.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ldu.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1024
  c2 ldu.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ldu.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1
  exit
