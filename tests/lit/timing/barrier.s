; A barrier: a warp that arrives waits for the last one, and then goes on in the next cycle; 6 cycles after its
; own arrival at the earliest, as behind any control instruction.

; Warp 0: mov at F, bras at F + 2, arrives at F + 8. Warp 1, a cycle behind: sqrt at F + 9, add 90 later, arrives at
; F + 100, goes on at F + 106. Warp 0 goes on at F + 101 with its bras, 6 later the sqrt, 90 later an add, and exit:
; 1000 + 101 + 6 + 90 + 2. It stands there from F + 9 to F + 99.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --json - | FileCheck %s
; CHECK: "cycles": 1199,
; CHECK: "barrier": 91,

; What warp 1 takes longer, both wait for.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set timing.float-divide.latency=95 --json - | FileCheck %s --check-prefix=LATER
; LATER: "cycles": 1209,
; LATER: "barrier": 96,

; One warp does not wait: it arrives at F + 8, and goes on at F + 14.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --local 32 --json - | FileCheck %s --check-prefix=ALONE
; ALONE: "cycles": 1112,
; ALONE: "barrier": 0,

; Work-groups do not wait for each other: each is one warp, and what the second one waits for is the sfu, 9
; cycles: 1000 + 8 + 6 + 6 + 9 + 90 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 32 --json - | FileCheck %s --check-prefix=GROUPS
; GROUPS: "cycles": 1121,
; GROUPS: "barrier": 0,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, warp
  bras.z s0, meet
  sqrt.f32 m0, m1
  add.b32 m1, m0, 1
meet:
  bar 1
  bras s0, end
  sqrt.f32 m2, m3
  c1 add.b32 m4, m2, 1
end:
  exit
