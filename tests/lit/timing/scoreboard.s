; The scoreboard: an instruction issues when the results are there that it reads, or that it overwrites. One
; instruction of each class on the vector units, each of which reads the one before; the last one a pair, so
; that a class that is one cycle late anywhere delays the end by one.

; F + mov 10 + add 20 + add.b64 30 + mul 40 + mad.b64 50 + fma.f16 60 + fma.f32 70 + fma.f64 80 + sqrt 90
; + cvt 110 + sin 120 + shfl 130 + the last add, and exit behind it: 1000 + 810 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1812,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.move.latency=11 --json - | FileCheck %s --check-prefix=MOVE
; MOVE: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.int32.latency=21 --json - | FileCheck %s --check-prefix=INT32
; INT32: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.int64.latency=31 --json - | FileCheck %s --check-prefix=INT64
; INT64: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.mul32.latency=41 --json - | FileCheck %s --check-prefix=MUL32
; MUL32: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.mul64.latency=51 --json - | FileCheck %s --check-prefix=MUL64
; MUL64: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float16.latency=61 --json - | FileCheck %s --check-prefix=FLOAT16
; FLOAT16: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.latency=71 --json - | FileCheck %s --check-prefix=FLOAT32
; FLOAT32: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float64.latency=81 --json - | FileCheck %s --check-prefix=FLOAT64
; FLOAT64: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float-divide.latency=91 --json - | FileCheck %s --check-prefix=FLOATDIVIDE
; FLOATDIVIDE: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.convert.latency=111 --json - | FileCheck %s --check-prefix=CONVERT
; CONVERT: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.special.latency=121 --json - | FileCheck %s --check-prefix=SPECIAL
; SPECIAL: "cycles": 1813,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.cross-lane.latency=131 --json - | FileCheck %s --check-prefix=CROSSLANE
; CROSSLANE: "cycles": 1813,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 m0, lane
  add.b32 m0, m0, 1
  add.b64 m[0:1], m[0:1], m[2:3]
  mul.b32 m0, m0, m1
  mad.b64 m[0:1], m[0:1], m[2:3], m[2:3]
  fma.f16 m0, m0, m2, m3
  fma.f32 m0, m0, m2, m3
  fma.f64 m[0:1], m[0:1], m[2:3], m[2:3]
  sqrt.f32 m0, m0
  cvt.f32.s32.rn m0, m0
  sin.f32 m0, m0
  shfl.b32 m0, m0, 3
  add.b32 m4, m0, 1
  exit
