; An SM's port to the network: a request enters every `interval` cycles; what waits longer than `queue` keeps the
; load-store unit busy. A store of a sector in each of 32 lines, then a load past L1.

; shl behind the division, 20 later st, which has the unit for 32 cycles, then ld, to a row, 1040:
; 11000 + 20 + 32 + 1040 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 12094,

; Nothing waits at the port.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.queue=0 --json - | FileCheck %s --check-prefix=QUEUE
; QUEUE: "cycles": 12094,

; With 10 cycles a request the last one, 31 cycles behind the first, enters 310 behind it: it waits for 279, 215 more
; than the queue holds, which the unit waits for, too. Then 9 more for the reply, and 8 x 9 for the code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.interval=10 --json - | FileCheck %s --check-prefix=INTERVAL
; INTERVAL: "cycles": 12390,

; Without a queue the unit waits for all 279.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.interval=10 --set memory.network.queue=0 --json - | FileCheck %s --check-prefix=NONE
; NONE: "cycles": 12454,

; With collectors the load issues behind the store and waits there for the unit: its request leaves when the unit takes it,
; so that it waits for the port once, as above.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.interval=10 --set main-file.collectors=2 --json - | FileCheck %s --check-prefix=INTERVAL
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.interval=10 --set memory.network.queue=0 --set main-file.collectors=2 --json - | FileCheck %s --check-prefix=NONE

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  shl.b32 m0, lane, 8
  c2 st.global.b32 [c[0x8] + u32 m0], m1
  c2 ld.global.b32.cg m2, [c[0x8] + 16384]
  add.b32 m3, m2, 1
  exit
