; Bank conflicts keep the load-store unit busy.

; mul at F, 40 later the first ld, each next one a cycle later, 7 + 30 behind the third add, and exit: 1000 + 42 + 37 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --json - | FileCheck %s
; CHECK: "cycles": 1081,

; Two words in a bank: each takes the unit for 2, and the third is there a cycle later.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 8 --json - | FileCheck %s --check-prefix=TWO
; TWO: "cycles": 1084,

; 32: 1000 + 40 + 64 + 37 + 31 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 128 --json - | FileCheck %s --check-prefix=ALL
; ALL: "cycles": 1174,

; An interval of 3 cycles adds to it: 1000 + 40 + 2 x (3 + 1) + 38 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 8 --set timing.load-local.interval=3 --json - | FileCheck %s --check-prefix=INTERVAL
; INTERVAL: "cycles": 1088,

; A store takes the unit as a load does.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 8 --set timing.store.interval=3 --json - | FileCheck %s --check-prefix=STORE
; STORE: "cycles": 1084,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":8192,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mul.b32 m0, lane, goffset.x
  c2 ld.local.b32 m1, [u32 m0]
  c2 ld.local.b32 m2, [u32 m0]
  c2 ld.local.b32 m3, [u32 m0]
  add.b32 m4, m3, 1
  exit
