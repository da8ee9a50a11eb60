; A cluster issues one instruction a cycle for all its units; two clusters issue side by side.

; Two warps, sqrt then double: warp 0 has the slot of cluster 0 at F (sqrt) and, as it issued last, at F + 1
; (fma.f64), ends at F + 2; warp 1 has the slot at F + 9, when the sfu is free again (fma.f64's unit since
; F + 1 + 8), at F + 10 the double unit, and ends at F + 11: 1000 + 11 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --json - | FileCheck %s
; CHECK: "cycles": 1012,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set timing.float-divide.interval=10 --json - | FileCheck %s --check-prefix=SFU
; SFU: "cycles": 1013,

; With an sfu that is free at once, the slot is what warp 1 waits for until F + 2, and then for the double unit until F + 9.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set timing.float-divide.interval=1 --json - | FileCheck %s --check-prefix=SLOT
; SLOT: "cycles": 1011,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  sqrt.f32 m1, m4
  fma.f64 m[2:3], m[4:5], m[4:5], m[4:5]
  exit
