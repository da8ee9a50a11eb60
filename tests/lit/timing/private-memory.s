; Private memory: words of the lanes side by side, kept by the data L1 until their line has to go.

; mov 10, st at F + 10, which asks for nothing; ld a cycle later finds what was written, 9 + 100, add, exit:
; 1000 + 11 + 109 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1122,
; CHECK: "misses": 0,
; CHECK: "reads": 4,
; CHECK: "writes": 4,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set memory.data.latency=101 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 1123,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.load-private.latency=10 --json - | FileCheck %s --check-prefix=UNIT
; UNIT: "cycles": 1123,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.store.interval=5 --json - | FileCheck %s --check-prefix=INTERVAL
; INTERVAL: "cycles": 1126,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":64,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 m0, 16
  c2 st.private.b32 [u32 m0], m1
  c2 ld.private.b32 m2, [u32 m0]
  add.b32 m3, m2, 1
  exit
