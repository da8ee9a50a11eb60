; Of two younger warps that wait for the slot the older one gets it when the oldest stops: order of age, not of
; waiting.

; Warp 0 issues 8 movs from F + 8 on, warp 1 its 4 from F + 16 on, warp 2 its 4 from F + 20 on; it goes on with
; sub at F + 24, bras 3 later, sqrt 6 later, add 90 later, and exit: 1000 + 33 + 90 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 96 --local 96 --json - | FileCheck %s
; CHECK: "cycles": 1125,

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
  exit
others:
  mov.b32 m0, lane
  mov.b32 m1, lane
  mov.b32 m2, lane
  mov.b32 m3, lane
  sub.b32 s1, s0, 1
  bras.z s1, end
  sqrt.f32 m8, m15
  c1 add.b32 m9, m8, 1
end:
  exit
