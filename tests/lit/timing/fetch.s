; A line of code is fetched when a warp comes to it, with the two behind it, through the instruction L1 and the L1.5;
; a warp waits where it is not there yet.

; 47 instructions of three lines, bra at F + 47, 6 later a line that nobody has asked for: 10 + 20 + 50; the slice is
; taken by the two lines fetched ahead, for 11 more, 300; DRAM's bus as well, for 16 more, 200 of an open row and
; 8 sectors of 4; 8 + 50 back, and exit: 1000 + 53 + 80 + 11 + 300 + 16 + 232 + 58 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1751,
; CHECK: "misses": 2,
; CHECK: "reads": 4,

; Two fetches are waited for.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set memory.instruction.latency=11 --json - | FileCheck %s --check-prefix=L1
; L1: "cycles": 1753,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set memory.l15.latency=21 --json - | FileCheck %s --check-prefix=L15
; L15: "cycles": 1753,

; Without lines fetched ahead four are waited for, the first as ever and three of an open row: 10 + 20 + 50 + 300 +
; 232 + 58 = 670 each. 1000 + 53 + 3 x 670 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set memory.instruction.prefetch=0 --json - | FileCheck %s --check-prefix=NONE
; NONE: "cycles": 3064,
; NONE: "misses": 4,
; NONE: "reads": 4,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  bra end
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
end:
  exit
