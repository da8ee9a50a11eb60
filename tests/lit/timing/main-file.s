; Banks of the main file: words of one bank are read one a cycle, and the cluster issues nothing meanwhile.

; Three words, no limit: the fma at F, the mov at F + 1, exit at F + 2: 1000 + 2 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=1 --json - | FileCheck %s
; CHECK: "cycles": 1003,
; CHECK: "read_conflicts": 0,

; Four banks: all three are in bank 0, the last is read at F + 2; the mov at F + 3.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=1 --set main-file.banks=4 --json - | FileCheck %s --check-prefix=FOUR
; FOUR: "cycles": 1005,
; FOUR: "read_conflicts": 2,
; FOUR: "bank": 2,

; Three banks have one each.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=1 --set main-file.banks=3 --json - | FileCheck %s --check-prefix=THREE
; THREE: "cycles": 1003,

; Two ports: the third word is read at F + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=1 --set main-file.banks=4 --set main-file.read-ports=2 --json - | FileCheck %s --check-prefix=PORTS
; PORTS: "cycles": 1004,

; A collector more than instructions that wait: the mov at F + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.float32.interval=1 --set main-file.banks=4 --set main-file.collectors=2 --json - | FileCheck %s --check-prefix=COLLECTORS
; COLLECTORS: "cycles": 1003,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":64,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  fma.f32 m1, m0, m4, m8
  mov.b32 m2, lane
  exit
