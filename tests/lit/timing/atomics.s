; Atomics are done by L2, a lane after the other. A load brings the lines into L2; then two atomics, the second of
; which does not wait for the first one's result. The distance between lanes is the launch's offset.

; All lanes one word: mul 40, the load 1040, add 20: T = F + 11100. The second atomic, 2 later, arrives at T + 52; the
; slice has taken the first one at T + 50, for 3, and 32 lanes of 7; its 300, 32 lanes of 7, 1 and 50 back, 12 in
; its unit, add, exit: 12100 + 50 + 227 + 300 + 224 + 51 + 12 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --offset 0 --json - | FileCheck %s
; CHECK: "cycles": 12966,

; 32 lanes more for each.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --offset 0 --set memory.l2.atomic-interval=8 --json - | FileCheck %s --check-prefix=INTERVAL
; INTERVAL: "cycles": 13030,

; A word each, in 4 sectors of a line: 3 more sectors for the load, 3 x 4 + 3, and to and from the slice, for which
; nothing but the reply counts: 3.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --offset 4 --json - | FileCheck %s --check-prefix=LINE
; LINE: "cycles": 12984,

; A line each. The load: the last row is opened for the 25th line, 24 x 4 behind the first: 1040 + 96; the atomics, 32
; requests of 3 + 7: the last of the second one behind 63 others: 11060 + 1136 + 50 + 630 + 300 + 7 + 51 + 12 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --offset 256 --set memory.data.misses=64 --json - | FileCheck %s --check-prefix=SPREAD
; SPREAD: "cycles": 13248,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  div.u32 m0, lane, 64
  mul.b32 m0, lane, goffset.x
  c2 ld.global.b32.cg m1, [c[0x8] + u32 m0]
  add.b32 m0, m0, m1
  c2 atom.global.add.b32 m2, [c[0x8] + u32 m0], m1
  c2 atom.global.add.b32 m3, [c[0x8] + u32 m0], m1
  add.b32 m4, m3, 1
  exit
