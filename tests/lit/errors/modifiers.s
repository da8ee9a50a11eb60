; K6: an invalid modifier is an error.
; RUN: not %heddle as %s -o %t.o 2>&1 | FileCheck %s
; CHECK: modifiers.s:[[# @LINE+3]]:17: `ld` does not take `.zz`
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":8,"fixed_registers":8,"shared_demand":0,"local_registers":[],"scalar_registers":4,"predicate_registers":2,"required_work_group":null,"warp_size":32}
  ld.global.b32.zz m0, [c[0x8]]
