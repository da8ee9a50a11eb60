; The warp that issued last goes first, even if an older one could issue. Warp 0 waits for an add of cluster 1;
; meanwhile warp 1 has begun with 24 movs.

; mov at F, bras at F + 2, 6 later the add of warp 0; warp 1 a cycle behind it begins its movs at F + 9, and has
; issued the last at F + 32. At F + 28 warp 0 has its sum, but warp 1 is greedy: warp 0 issues its mov at F + 33,
; 10 later the sqrt, 90 later its add, and exit: 1000 + 33 + 10 + 90 + 2. (The oldest first: 5 less.)
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --json - | FileCheck %s
; CHECK: "cycles": 1135,

; A sum that is there later than the last mov of warp 1 is what counts: F + 8 + 26.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 64 --local 64 --set timing.int32.latency=26 --json - | FileCheck %s --check-prefix=LATER
; LATER: "cycles": 1136,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":32,"fixed_registers":32,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, warp
  bras s0, second
  c1 add.b32 m0, lane, 1
  mov.b32 m1, m0
  sqrt.f32 m1, m1
  c1 add.b32 m2, m1, 1
  exit
second:
  mov.b32 m2, lane
  mov.b32 m3, lane
  mov.b32 m4, lane
  mov.b32 m5, lane
  mov.b32 m6, lane
  mov.b32 m7, lane
  mov.b32 m8, lane
  mov.b32 m9, lane
  mov.b32 m10, lane
  mov.b32 m11, lane
  mov.b32 m12, lane
  mov.b32 m13, lane
  mov.b32 m14, lane
  mov.b32 m15, lane
  mov.b32 m16, lane
  mov.b32 m17, lane
  mov.b32 m18, lane
  mov.b32 m19, lane
  mov.b32 m20, lane
  mov.b32 m21, lane
  mov.b32 m22, lane
  mov.b32 m23, lane
  mov.b32 m24, lane
  mov.b32 m25, lane
  exit
