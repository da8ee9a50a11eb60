; Units of one cluster are apart from each other: what keeps one busy does not stop the others, nor other
; clusters.

; fma.f32 at F (alu of cluster 0, busy for 7), sqrt at F + 1 (its sfu), fma.f64 at F + 2 (its double unit),
; fma.f32 at F + 3 (alu of cluster 1), fma.f32 at F + 7 (cluster 0 again), exit: 1000 + 7 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1009,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=8 --json - | FileCheck %s --check-prefix=LONGER
; LONGER: "cycles": 1010,

; Intervals of units that nobody waits for.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float-divide.interval=50 --set timing.float64.interval=60 --json - | FileCheck %s --check-prefix=OTHERS
; OTHERS: "cycles": 1009,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  fma.f32 m0, m4, m4, m4
  sqrt.f32 m1, m4
  fma.f64 m[2:3], m[4:5], m[4:5], m[4:5]
  c1 fma.f32 m6, m4, m4, m4
  fma.f32 m7, m4, m4, m4
  exit
