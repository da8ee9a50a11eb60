; RUN: %heddle as %s -o %t.o && %heddle objdump %t.o | FileCheck %s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":8,"fixed_registers":8,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":4,"predicate_registers":2,"required_work_group":null,"warp_size":32}
; CHECK: mov.b32 m0, gid.x
  mov.b32 m0, gid.x
; CHECK: cmp.olt.f32 p1, -|m0|, 0x3f800000
  cmp.olt.f32 p1, -|m0|, 0x3f800000
; CHECK: @!p1 brad [[L:L[0-9]+]], [[L]]
  @!p1 brad done, done
; CHECK: c3 ld.global.b128.cs m[4:7], [s[0:1] + u32 m0! + -16]
  c3 ld.global.b128.cs m[4:7], [s[0:1] + u32 m0! + -16]
; CHECK: c3 atom.local.cmpxchg.b32 _, [u32 m0], m[4:5]
  c3 atom.local.cmpxchg.b32 _, [u32 m0], m[4:5]
; CHECK: [[L]]:
done:
; CHECK: bar 1
  bar 1
  exit
