; Work-group memory: flat latency, and a cycle more for each further word of the fullest bank, to the result and
; until the unit is free. The distance between the lanes' words is the launch's offset.

; Consecutive words: mul at F, 40 later ld, 7 + 30 later add, and exit: 1000 + 40 + 37 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --json - | FileCheck %s
; CHECK: "cycles": 1079,

; All lanes one word, and two words of one bank for half of the lanes each.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 0 --json - | FileCheck %s --check-prefix=SAME
; SAME: "cycles": 1079,

; Every second word: 2 words in a bank.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 8 --json - | FileCheck %s --check-prefix=TWO
; TWO: "cycles": 1080,

; Every fourth: 4.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 16 --json - | FileCheck %s --check-prefix=FOUR
; FOUR: "cycles": 1082,

; Every 32nd: 32.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 128 --json - | FileCheck %s --check-prefix=ALL
; ALL: "cycles": 1110,

; 31 and 33 words are no multiples of anything.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 132 --json - | FileCheck %s --check-prefix=ODD
; ODD: "cycles": 1079,

; 16 banks have two words each of 32.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --set memory.local-banks=16 --json - | FileCheck %s --check-prefix=BANKS
; BANKS: "cycles": 1080,

; 24 banks are no power of two; 8 of them have two words.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --set memory.local-banks=24 --json - | FileCheck %s --check-prefix=MIXED
; MIXED: "cycles": 1080,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --set memory.local-latency=31 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 1080,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --offset 4 --set timing.load-local.latency=8 --json - | FileCheck %s --check-prefix=UNIT
; UNIT: "cycles": 1080,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":8192,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mul.b32 m0, lane, goffset.x
  c2 ld.local.b32 m1, [u32 m0]
  add.b32 m2, m1, 1
  exit
