; L2: a slice takes a sector every `interval` cycles. Two loads of whole lines past L1 (.cg), and the same again
; when L2 has them.

; shl behind the division, 20 later the first load, to a row: 5 + 100 + 50 + 300 + 562 + 8 + 50; two adds, 40; at
; T = F + 11135 two loads, the second a cycle later. It arrives at T + 151, waits for 8 sectors of 3 until T + 174,
; 300, and its reply waits 7 for the port behind that of the first one: T + 474 + 7 + 8 + 50 + 5, add, exit.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 12681,

; 8 sectors of 4.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.l2.interval=4 --json - | FileCheck %s --check-prefix=INTERVAL
; INTERVAL: "cycles": 12689,

; Without an interval it is served when it arrives.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.l2.interval=0 --json - | FileCheck %s --check-prefix=ZERO
; ZERO: "cycles": 12658,

; The two lines are in two slices.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.l2.slices=2 --json - | FileCheck %s --check-prefix=SLICES
; SLICES: "cycles": 12658,

; The port takes 2 cycles for a sector: 8 more for the code, 8 for the first load, and 16 for the last one, whose
; reply waits for 8 sectors and has as many.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.interval=2 --json - | FileCheck %s --check-prefix=PORT
; PORT: "cycles": 12713,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  shl.b32 m0, lane, 3
  c2 ld.global.b64.cg m[2:3], [c[0x8] + u32 m0]
  c2 ld.global.b64.cg m[4:5], [c[0x8] + u32 m0 + 256]
  add.b32 m0, m0, m2
  add.b32 m0, m0, m4
  c2 ld.global.b64.cg m[2:3], [c[0x8] + u32 m0]
  c2 ld.global.b64.cg m[4:5], [c[0x8] + u32 m0 + 256]
  add.b32 m0, m4, 1
  exit
