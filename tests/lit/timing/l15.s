; The L1.5 of two SMs: what one SM has fetched the other one finds. Each SM has a work-group; the first one loads
; at once, the second one behind another division.

; Both SMs wait F for the code. The second one: mov at F, bras 2 later, 6 later div and 10000 later another one,
; 10000 later ldu: 5 + 110 + 20, add, exit: 1000 + 8 + 20000 + 135 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 32 --arg a=zeros:uint32:16384 --set sm.count=2 --set memory.l15.sms=2 --json - | FileCheck %s
; CHECK: "cycles": 21145,

; Each with an L1.5 of its own: it misses, and L2 has the line: 50 + 300 + 1 + 50 more.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 32 --arg a=zeros:uint32:16384 --set sm.count=2 --json - | FileCheck %s --check-prefix=OWN
; OWN: "cycles": 21546,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, group.x
  bras.z s0, first
  div.u32 m0, lane, 64
first:
  div.u32 m0, m0, 64
  c2 ldu.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1
  exit
