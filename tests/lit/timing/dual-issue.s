; The scalar unit has a slot of its own: a scalar instruction of one warp issues beside a vector instruction of
; another one.

; Warp 0 issues its scalar and vector instructions from F to F + 5, and exit at F + 6; warp 1 the same a cycle
; later, each of its scalar instructions beside a vector instruction of warp 0: 1000 + 7 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --json - | FileCheck %s
; CHECK: "cycles": 1008,

; One warp alone: 1000 + 6 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s --check-prefix=ALONE
; ALONE: "cycles": 1007,

; Two scalar instructions a cycle: the vector slot is what warp 1 waits for. It issues its first scalar
; instruction at F, its first vector instruction at F + 2 beside a scalar one of warp 0, and from there on a
; cycle behind it.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.scalar-issue=2 --json - | FileCheck %s --check-prefix=TWO
; TWO: "cycles": 1008,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  add.b32 s0, s4, 1
  mov.b32 m0, lane
  add.b32 s1, s4, 1
  mov.b32 m1, lane
  add.b32 s2, s4, 1
  mov.b32 m2, lane
  exit
