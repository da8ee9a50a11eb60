; DRAM: an open row, another row of the bank, other banks. A load opens row 0 of bank 0 (11000 + 1040, add 20);
; at T = F + 11060 follow loads of that row, of another row of bank 0, of bank 1, of a third row of bank 0.

; The rows of bank 0 are opened 2000 cycles apart, the first at F + 10000 + 450: the third one at F + 14450; then
; 534, 51 to be back, 5 to the add, and exit: 1000 + 14450 + 534 + 51 + 5 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 16042,
; CHECK: "dram_row_hits": 1,
; CHECK: "dram_row_misses": 5,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.row-cycle=3000 --json - | FileCheck %s --check-prefix=CYCLE
; CYCLE: "cycles": 18042,

; With 8 banks each row is in a bank of its own: the last one is opened at once, and has the bus behind three
; others: T + 3 + 100 + 50 + 6 (the slice) + 300 + 3 (the bus) + 534 + 51 + 5 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.banks=8 --json - | FileCheck %s --check-prefix=BANKS
; BANKS: "cycles": 13114,

; The same with rows of four times the size.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.row-bytes=8192 --json - | FileCheck %s --check-prefix=ROW
; ROW: "cycles": 13114,

; With two channels, which take turns every 256 bytes, bank 0 has the first and the last load, which is one
; row-cycle less.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.channels=2 --json - | FileCheck %s --check-prefix=CHANNELS
; CHANNELS: "cycles": 14042,

; tRCD of 300 and the 200 of a hit instead of 530: code is there 30 cycles earlier, and so is the last load.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.t-rcd=300 --json - | FileCheck %s --check-prefix=RCD
; RCD: "cycles": 15982,

; tRAS and tRP of more than a row cycle: each further row of bank 0 is opened 1900 + 150 behind the one before, the
; first 150 later, as the row of the code has to be closed.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.dram.t-ras=1900 --set memory.dram.t-rp=150 --json - | FileCheck %s --check-prefix=RAS
; RAS: "cycles": 16292,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32.cg m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ld.global.b32.cg m2, [c[0x8] + u32 m0 + 32]
  c2 ld.global.b32.cg m3, [c[0x8] + u32 m0 + 10240]
  c2 ld.global.b32.cg m4, [c[0x8] + u32 m0 + 2048]
  c2 ld.global.b32.cg m5, [c[0x8] + u32 m0 + 20480]
  add.b32 m6, m5, 1
  exit
