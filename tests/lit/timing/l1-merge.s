; Loads of a sector that is on its way wait for it, and ask for nothing. Times as in l1.s.

; Both loads have their bytes when the miss of the first one returns: 11000 + 1040 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 12042,
; CHECK: "merged": 1,
; CHECK: "misses": 1,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.row-miss=540 --json - | FileCheck %s --check-prefix=LATER
; LATER: "cycles": 12062,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  c2 ld.global.b32 m2, [c[0x8] + u32 m0]
  add.b32 m0, m2, 1
  exit
