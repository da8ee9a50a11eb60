; A store to work-group memory keeps the load-store unit busy for its interval and its bank conflicts.

; mul at F, 40 later st, a cycle later ld, 7 + 30 behind it add, and exit: 1000 + 41 + 37 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --json - | FileCheck %s
; CHECK: "cycles": 1080,

; 32 words in a bank for each: ld 32 behind st, and its result 31 later.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 128 --json - | FileCheck %s --check-prefix=ALL
; ALL: "cycles": 1142,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --set timing.store.interval=4 --json - | FileCheck %s --check-prefix=INTERVAL
; INTERVAL: "cycles": 1083,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":8192,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mul.b32 m0, lane, goffset.x
  c2 st.local.b32 [u32 m0], m0
  c2 ld.local.b32 m1, [u32 m0]
  add.b32 m2, m1, 1
  exit
