; A unit takes an instruction every `interval` cycles; units of one cluster share its slot, which takes one
; instruction a cycle; another cluster has units and a slot of its own.

; Four independent fma.f32, every 7 cycles, then exit a cycle after the last: 1000 + 3 x 7 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1023,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=8 --json - | FileCheck %s --check-prefix=LONGER
; LONGER: "cycles": 1026,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=1 --json - | FileCheck %s --check-prefix=SHORTER
; SHORTER: "cycles": 1005,

; What the results take nobody waits for.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.latency=71 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 1023,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  fma.f32 m0, m4, m4, m4
  fma.f32 m1, m4, m4, m4
  fma.f32 m2, m4, m4, m4
  fma.f32 m3, m4, m4, m4
  exit
