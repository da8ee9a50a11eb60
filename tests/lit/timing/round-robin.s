; Which of two warps that could issue does. Each has five movs in one cluster; warp 1 begins a cycle behind.

; Greedy: warp 0 issues at F to F + 4, and ends at F + 5; warp 1 at F + 5 to F + 9, ends at F + 10: 1000 + 10 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --json - | FileCheck %s
; CHECK: "cycles": 1011,

; In turns: warp 0 at F, F + 2 … F + 8, ends at F + 9; warp 1 at F + 1 … F + 9, ends at F + 10.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.scheduler=round-robin --json - | FileCheck %s --check-prefix=TURNS
; TURNS: "cycles": 1011,
; TURNS: "unit": 9,

; Greedy again, for the warp cycles lost to the slot: warp 1 waits for 5.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.scheduler=oldest --json - | FileCheck %s --check-prefix=OLDEST
; OLDEST: "unit": 5,

; Two sub-cores have a slot each, also for the ends: both are done at F + 5.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set sm.schedulers=2 --json - | FileCheck %s --check-prefix=CORES
; CORES: "cycles": 1006,
; CORES: "unit": 0,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":64,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 m0, lane
  mov.b32 m1, lane
  mov.b32 m2, lane
  mov.b32 m3, lane
  mov.b32 m4, lane
  exit
