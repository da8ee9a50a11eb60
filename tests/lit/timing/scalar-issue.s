; The scalar unit takes `scalar-issue` instructions a cycle, of different warps; a warp issues one a cycle.

; Eight warps with four scalar instructions each: 32 cycles, and the last warp ends one later: 1000 + 32 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 256 --local 256 --json - | FileCheck %s
; CHECK: "cycles": 1033,

; Two a cycle, 16 cycles: the last two warps end one after the other, as the front end ends one a cycle.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 256 --local 256 --set sm.scalar-issue=2 --json - | FileCheck %s --check-prefix=TWO
; TWO: "cycles": 1018,

; Three a cycle, 4 + 4 + 4 cycles for three, three and two warps: 12, and two that end.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 256 --local 256 --set sm.scalar-issue=3 --json - | FileCheck %s --check-prefix=THREE
; THREE: "cycles": 1014,

; Four a cycle: 8, and four that end.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 256 --local 256 --set sm.scalar-issue=4 --json - | FileCheck %s --check-prefix=FOUR
; FOUR: "cycles": 1012,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, 1
  mov.b32 s1, 1
  mov.b32 s2, 1
  mov.b32 s3, 1
  exit
