; A divergent branch: the lanes that do not branch run first, then the others, from where they wait; they go on
; together where they meet, which costs nothing.

; All lanes branch: cmp at F, brad 20 later, 6 later the mov of the taken side, then exit: 1000 + 20 + 6 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 32 --json - | FileCheck %s
; CHECK: "divergent_branches": 0,
; CHECK: "cycles": 1028,

; No lane branches: mov at F + 26, bra a cycle later, 6 later exit: 1000 + 26 + 1 + 6 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 0 --json - | FileCheck %s --check-prefix=NONE
; NONE: "divergent_branches": 0,
; NONE: "cycles": 1034,

; Half of them: mov and bra of one side, then mov of the other one, and exit: 1000 + 26 + 1 + 6 + 1 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 16 --json - | FileCheck %s --check-prefix=HALF
; HALF: "divergent_branches": 1,
; HALF: "cycles": 1035,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 16 --set timing.control.latency=7 --json - | FileCheck %s --check-prefix=LATER
; LATER: "divergent_branches": 1,
; LATER: "cycles": 1037,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  cmp.ge.u32 p0, gid.x, 32
  @p0 brad taken, join
  mov.b32 m0, lane
  bra join
taken:
  mov.b32 m1, lane
join:
  exit
