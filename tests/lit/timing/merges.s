; A load for whose line enough others wait does not issue before the line is there. Three loads of a
; sector; the first one's miss is there at F + 10000 + 1035 (see l1.s), and what a load takes beside is 5.

; All three wait for the miss: 11000 + 1035 + 5 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 12042,
; CHECK: "merged": 2,

; One may wait beside the first. The third issues when the sector is there, and hits: 11000 + 1035 + 105 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.merges=1 --json - | FileCheck %s --check-prefix=ONE
; ONE: "cycles": 12142,
; ONE: "merged": 1,

; Two may.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.merges=2 --json - | FileCheck %s

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  c2 ld.global.b32 m2, [c[0x8] + u32 m0]
  c2 ld.global.b32 m3, [c[0x8] + u32 m0]
  add.b32 m0, m3, 1
  exit
