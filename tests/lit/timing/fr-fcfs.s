; FR-FCFS: requests for an open row go first. A load opens row 0 of bank 0 (11000 + 1040, add 20); at T = F + 11060
; follow a load of another row of the bank, and then one of row 0. Bank 0 can open another row 2000 cycles behind
; F + 10450.

; In order: the other row at F + 12450, row 0 again at F + 14450; then 534, 51 to be back, 5 to the add, and exit.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 16042,

; The load of row 0, which comes 3 cycles later, is served before; then the other row.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.scheduler=fr-fcfs --json - | FileCheck %s --check-prefix=READY
; READY: "cycles": 14042,

; Not where a queue holds one request, nor where the older one has waited for long enough after 3 cycles.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.scheduler=fr-fcfs --set memory.dram.queue=1 --json - | FileCheck %s
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.scheduler=fr-fcfs --set memory.dram.starvation=3 --json - | FileCheck %s
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.scheduler=fr-fcfs --set memory.dram.starvation=4 --json - | FileCheck %s --check-prefix=READY

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32.cg m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ld.global.b32.cg m2, [c[0x8] + u32 m0 + 10240]
  c2 ld.global.b32.cg m3, [c[0x8] + u32 m0 + 32]
  add.b32 m4, m2, m3
  exit
