; The constant bank: an operand costs nothing; a load of an argument by an index of each lane has a flat latency.

; mov at F, 10 later ld, 3 + 40 later add, and exit: 1000 + 10 + 43 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --json - | FileCheck %s
; CHECK: "cycles": 1055,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set memory.argument-latency=41 --json - | FileCheck %s --check-prefix=LATENCY
; LATENCY: "cycles": 1056,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --arg a=zeros:uint32:16384 --set timing.load-argument.latency=4 --json - | FileCheck %s --check-prefix=UNIT
; UNIT: "cycles": 1056,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":4}],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 m0, 8
  c2 ld.argument.b32 m1, [u32 m0]
  add.b32 m2, m1, c[0xc]
  exit
