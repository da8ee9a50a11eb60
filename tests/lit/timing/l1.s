; The data L1, of 4 sets of 2 lines of 256 bytes. Behind the division (F + 10000) loads depend on each other: a
; load of zeros, an add to its result (20), the next load. What a load takes: 5 in its unit, 100 to look it up,
; and if it misses 50 to L2, 300 there, 530 for a row of DRAM or 200 for an open one, 4 for the sector, 1 at the
; SM's port, and 50 back.

; A miss to a row, 5 + 100 + 50 + 300 + 534 + 1 + 50; a hit, 105; a miss in another sector of the line, with the
; row open, 5 + 100 + 50 + 300 + 204 + 1 + 50; three adds, and exit: 11000 + 1040 + 105 + 710 + 3 x 20 - 20 + 2.
; From L2 come a line of code of 8 sectors of 32 bytes, and two sectors.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 12897,
; CHECK: "misses": 2,
; CHECK: "reads": 3,
; CHECK: "dram_read_bytes": 320,
; CHECK: "l2_to_l1_bytes": 320,
; CHECK: "network_sectors": 10,

; Three look-ups.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.latency=101 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 12900,

; Two misses, there and back, and the code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.network.latency=51 --json - | FileCheck %s --check-prefix=NETWORK
; NETWORK: "cycles": 12903,

; Two misses, and the code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.l2.latency=301 --json - | FileCheck %s --check-prefix=L2
; L2: "cycles": 12900,

; A miss, and the code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.row-miss=531 --json - | FileCheck %s --check-prefix=ROW
; ROW: "cycles": 12899,

; One miss.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.row-hit=201 --json - | FileCheck %s --check-prefix=OPEN
; OPEN: "cycles": 12898,

; Two misses, and 8 sectors of code.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.interval=5 --json - | FileCheck %s --check-prefix=BUS
; BUS: "cycles": 12907,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 16
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 32
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1
  exit
