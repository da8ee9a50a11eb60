; A two-level scheduler: a warp that waits for memory at the beginning of a strand makes room for another one (C14).

; Warp 0 has the only place: it multiplies at F, waits, and ends at F + 41; warp 1 begins at F + 42: 1000 + 2 × 42.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.scheduler=two-level --set sm.active-warps=1 --json - | FileCheck %s
; CHECK: "cycles": 1084,
; CHECK: "inactive": 42,

; Two places, or one level: warp 1 waits for the unit alone, 3 cycles.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.scheduler=two-level --set sm.active-warps=2 --json - | FileCheck %s --check-prefix=TWO
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.active-warps=1 --json - | FileCheck %s --check-prefix=TWO
; TWO: "cycles": 1045,
; TWO: "inactive": 0,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":64,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mul.b32 m0, lane, 3
  add.b32.strand m1, m0, 1
  exit
