; Constant memory goes through the constant L1 (120) and the L1.5 (20). Loads depend on each other, as in l1.s.

; Line 0, to a row: 5 + 120 + 20 + 50 + 300 + 534 + 51 = 1080; line 0 again, 125; line 4, which takes its place, with
; the row open, 750; line 0, which the L1.5 has, 145; adds of 20: 11000 + 2100 + 60 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.constant.index=linear --json - | FileCheck %s
; CHECK: "cycles": 13162,

; Three look-ups, and the code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.constant.index=linear --set memory.l15.latency=21 --json - | FileCheck %s --check-prefix=L15
; L15: "cycles": 13166,

; Four look-ups.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.constant.index=linear --set memory.constant.latency=121 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 13166,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.constant.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ld.constant.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1024
  c2 ld.constant.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ld.constant.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1
  exit
