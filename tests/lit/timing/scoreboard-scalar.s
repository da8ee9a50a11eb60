; The scoreboard of the scalar unit: a chain of one instruction of each class, as in scoreboard.s.

; F + mov 2 + add 3 + add.b64 4 + mul 5 + mad.b64 6 + div 7 + fma.f16 8 + fma.f32 9 + fma.f64 11 + sqrt 12
; + cvt 13 + sin 14 + the last add, and exit behind it: 1000 + 94 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1096,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.move.scalar-latency=3 --json - | FileCheck %s --check-prefix=MOVE
; MOVE: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.int32.scalar-latency=4 --json - | FileCheck %s --check-prefix=INT32
; INT32: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.int64.scalar-latency=5 --json - | FileCheck %s --check-prefix=INT64
; INT64: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.mul32.scalar-latency=6 --json - | FileCheck %s --check-prefix=MUL32
; MUL32: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.mul64.scalar-latency=7 --json - | FileCheck %s --check-prefix=MUL64
; MUL64: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.int-divide.scalar-latency=8 --json - | FileCheck %s --check-prefix=INTDIVIDE
; INTDIVIDE: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float16.scalar-latency=9 --json - | FileCheck %s --check-prefix=FLOAT16
; FLOAT16: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.scalar-latency=10 --json - | FileCheck %s --check-prefix=FLOAT32
; FLOAT32: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float64.scalar-latency=12 --json - | FileCheck %s --check-prefix=FLOAT64
; FLOAT64: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float-divide.scalar-latency=13 --json - | FileCheck %s --check-prefix=FLOATDIVIDE
; FLOATDIVIDE: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.convert.scalar-latency=14 --json - | FileCheck %s --check-prefix=CONVERT
; CONVERT: "cycles": 1097,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.special.scalar-latency=15 --json - | FileCheck %s --check-prefix=SPECIAL
; SPECIAL: "cycles": 1097,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, 1
  add.b32 s0, s0, 1
  add.b64 s[0:1], s[0:1], s[2:3]
  mul.b32 s0, s0, s1
  mad.b64 s[0:1], s[0:1], s[2:3], s[2:3]
  div.u32 s0, s0, s1
  fma.f16 s0, s0, s2, s3
  fma.f32 s0, s0, s2, s3
  fma.f64 s[0:1], s[0:1], s[2:3], s[2:3]
  sqrt.f32 s0, s0
  cvt.f32.s32.rn s0, s0
  sin.f32 s0, s0
  add.b32 s4, s0, 1
  exit
