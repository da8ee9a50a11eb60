; A result that is overwritten is waited for, although nobody reads it: results would return in any order
; otherwise. A register that is only read may be overwritten at once.

; sqrt at F, mov 90 later into the same register, exit: 1000 + 90 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1092,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float-divide.latency=91 --json - | FileCheck %s --check-prefix=LATER
; LATER: "cycles": 1093,

; What the mov itself takes nobody waits for.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.move.latency=500 --json - | FileCheck %s --check-prefix=MOVE
; MOVE: "cycles": 1092,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  sqrt.f32 m0, m1
  mov.b32 m0, lane
  exit
