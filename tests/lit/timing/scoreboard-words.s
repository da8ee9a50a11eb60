; Of results and operands of several words each one is waited for.

; fma.f64 at F, add of its second word 80 later, sqrt of another second word behind it, add.b64 90 later, and exit:
; 1000 + 80 + 1 + 90 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1173,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float64.latency=81 --json - | FileCheck %s --check-prefix=RESULT
; RESULT: "cycles": 1174,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float-divide.latency=91 --json - | FileCheck %s --check-prefix=OPERAND
; OPERAND: "cycles": 1174,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  fma.f64 m[4:5], m[2:3], m[2:3], m[2:3]
  add.b32 m6, m5, 1
  sqrt.f32 m9, m0
  add.b64 m[10:11], m[8:9], m[2:3]
  exit
