; Misses on their way: each takes a register until it returns; a load that misses does not issue before one is free. A
; load of another sector has opened the row (11000 + 1040 + 20), so at T = F + 11060 six loads of six lines begin, one a
; cycle.

; Four issue from T on. The first is back at T + 100 + 50 + 300 + 204 + 51 = T + 705, when the fifth issues; the second 4
; later. The sixth takes 705, 5 to the add, and exit: 1000 + 11060 + 709 + 705 + 5 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 13481,
; CHECK: "unit": 704

; With five registers the sixth issues at T + 705.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.misses=5 --json - | FileCheck %s --check-prefix=FIVE
; FIVE: "cycles": 13477,

; With six, the last one is back as late as DRAM lets it: T + 705 + 5 x 4 + 5 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.misses=6 --json - | FileCheck %s --check-prefix=SIX
; SIX: "cycles": 12792,

; With one, each issues when the one before is back: T + 6 x 705 + 5 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.misses=1 --json - | FileCheck %s --check-prefix=ONE
; ONE: "cycles": 16297,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 32
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  c2 ld.global.b32 m2, [c[0x8] + u32 m0 + 256]
  c2 ld.global.b32 m3, [c[0x8] + u32 m0 + 512]
  c2 ld.global.b32 m4, [c[0x8] + u32 m0 + 768]
  c2 ld.global.b32 m5, [c[0x8] + u32 m0 + 1024]
  c2 ld.global.b32 m6, [c[0x8] + u32 m0 + 1280]
  add.b32 m8, m6, 1
  exit
