; A work-group begins in the cycle behind the one in which another one has ended, whatever else the SM waits for.

; Two work-groups have room. Group 0: mov s0 at F, bras at F + 2, sqrt at F + 8, the sum at F + 98, exit at F + 99.
; Group 1 divides at F + 17, when the sfu is free, for 10000 cycles. Group 2 begins at F + 100: bras at F + 102, div at
; F + 108, the sum at F + 10108, exit behind it: 1000 + 10109 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 96 --local 32 --set sm.max-work-groups=2 --json - | FileCheck %s
; CHECK: "cycles": 11110,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, group.x
  bras s0, divide
  sqrt.f32 m0, m1
  add.b32 m2, m0, 1
  exit
divide:
  div.u32 m0, lane, 3
  add.b32 m1, m0, 1
  exit
