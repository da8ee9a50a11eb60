; Warps that could all issue: the oldest goes first, and keeps the slot.

; mov at F, bras at F + 2, 6 later the 8 movs of warp 0, then its sqrt at F + 16, 90 later an add of cluster 1,
; and exit. The others' movs wait for it: 1000 + 16 + 90 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 96 --local 96 --json - | FileCheck %s
; CHECK: "cycles": 1108,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, warp
  bras s0, others
  mov.b32 m0, lane
  mov.b32 m1, lane
  mov.b32 m2, lane
  mov.b32 m3, lane
  mov.b32 m4, lane
  mov.b32 m5, lane
  mov.b32 m6, lane
  mov.b32 m7, lane
  sqrt.f32 m8, m15
  c1 add.b32 m9, m8, 1
  exit
others:
  mov.b32 m0, lane
  mov.b32 m1, lane
  mov.b32 m2, lane
  mov.b32 m3, lane
  mov.b32 m4, lane
  mov.b32 m5, lane
  mov.b32 m6, lane
  mov.b32 m7, lane
  exit
