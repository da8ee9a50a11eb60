; The victim of a set of 2 lines is the one unused for longest. Lines 0, 4 and 8 of the buffer fall into one set where
; the lower bits choose it; loads depend on each other as in l1.s.

; 0, a miss to a row, 1040; 4, with the row open, 710; 0, a hit, 105; 8, a row, 1040, instead of 4; 0, a hit, 105;
; 4, which L2 has, 5 + 100 + 50 + 300 + 1 + 50, instead of 8; adds of 20: 11000 + 3506 + 5 x 20 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --json - | FileCheck %s
; CHECK: "cycles": 14608,
; CHECK: "evicted_normal": 2,
; CHECK: "misses": 4,
; CHECK: "reads": 6,

; With three lines a set nothing has to go: 4 is a hit.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --set memory.data.ways=3 --set memory.data.bytes=3072 --json - | FileCheck %s --check-prefix=WAYS
; WAYS: "cycles": 14207,
; WAYS: "evicted_normal": 0,
; WAYS: "misses": 3,

; In one set of 8 neither.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --set memory.data.ways=8 --json - | FileCheck %s --check-prefix=ONE
; ONE: "cycles": 14207,
; ONE: "evicted_normal": 0,
; ONE: "misses": 3,

; With one line a set every load misses; L2 has line 0 the second and third time: two hits more become 506.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --set memory.data.ways=1 --set memory.data.bytes=1024 --json - | FileCheck %s --check-prefix=DIRECT
; DIRECT: "cycles": 15410,
; DIRECT: "evicted_normal": 5,
; DIRECT: "misses": 6,

; First in, first out: 8 takes the place of 0 although that was used last; 0 and 4 are fetched again from L2, 506
; instead of 105 for line 0.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --set memory.data.replacement=fifo --json - | FileCheck %s --check-prefix=FIFO
; FIFO: "cycles": 15009,
; FIFO: "evicted_normal": 3,
; FIFO: "misses": 5,

; With two lines a set a tree knows the order of use, and a line used again outlives one that came later.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --set memory.data.replacement=pseudo-lru --json - | FileCheck %s
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.data.index=linear --set memory.data.replacement=rrip --json - | FileCheck %s

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1024
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 2048
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 0
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1024
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m0, m1, 1
  exit
