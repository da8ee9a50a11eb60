; What launches and work-groups cost beside their instructions.

; One warp: its mov at F, exit at F + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --local 32 --json - | FileCheck %s
; CHECK: "cycles": 1002,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --local 32 --set launch-cycles=300 --json - | FileCheck %s --check-prefix=BEGIN
; BEGIN: "cycles": 1302,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --local 32 --set end-cycles=40 --json - | FileCheck %s --check-prefix=END
; END: "cycles": 1042,

; The third work-group is begun 2 × 2000 cycles behind the first one, which waited for its code; this one's is in the
; instruction L1, where a hit costs nothing: 4000 + 2.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 96 --local 32 --set sm.dispatch-cycles=2000 --json - | FileCheck %s --check-prefix=GROUPS
; GROUPS: "cycles": 4002,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":64,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 m0, lane
  exit
