; A branch: the warp goes on `control` latency behind it, whether it is taken or not.

; mov at F, and 2 later four times: sub, 3 later bras, 6 later the next; then bra, 6, and exit:
; 1000 + 2 + 4 x (3 + 6) + 6 + 1.
; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --json - | FileCheck %s
; CHECK: "cycles": 1045,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.control.latency=7 --json - | FileCheck %s --check-prefix=LONGER
; LONGER: "cycles": 1050,

; RUN: %heddle run %s --target %S/Inputs/machine.toml --global 32 --set timing.control.latency=1 --json - | FileCheck %s --check-prefix=SHORTEST
; SHORTEST: "cycles": 1020,

.object {"version":1,"machine":"timing-tests","clusters":3,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[4,4,4],"scalar_registers":8,"predicate_registers":4,"required_work_group":null,"warp_size":32}
  mov.b32 s0, 4
loop:
  sub.b32 s0, s0, 1
  bras s0, loop
  bra end
  nop
end:
  exit
