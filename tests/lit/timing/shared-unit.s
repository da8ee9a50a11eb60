; A unit that clusters share is busy for all of them; their slots are their own.

; Without sharing, each of two clusters has an alu: the products are issued at F and F + 1, and the sum of the second
; one, which is there at F + 41, at F + 41; exit behind it: 1000 + 42 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1043,

; With one alu of both, busy for 3 cycles, the second product is issued at F + 3.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set "clusters.0.units=['sfu','double']" --set "clusters.1.units=['control']" --set "shared-units=[{name='s',units=['alu'],clusters=['a','b']}]" --json - | FileCheck %s --check-prefix=SHARED
; SHARED: "cycles": 1045,
; SHARED: "unit": 2,

; The unit's interval, not the slots, is what the second one waits for.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set "clusters.0.units=['sfu','double']" --set "clusters.1.units=['control']" --set "shared-units=[{name='s',units=['alu'],clusters=['a','b']}]" --set timing.mul32.interval=1 --json - | FileCheck %s --check-prefix=SLOTS
; SLOTS: "cycles": 1043,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":64,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mul.b32 m0, lane, 3
  c1 mul.b32 m1, lane, 5
  c1 add.b32 m2, m1, 1
  exit
