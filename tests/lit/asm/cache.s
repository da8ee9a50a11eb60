# K2-K6: policies, ldu, cctl and cctll; what the tables do not have is refused.
# RUN: split-file %s %t
# RUN: %heddle as %t/good.s -o %t/good.o && %heddle objdump %t/good.o | FileCheck %s
# RUN: not %heddle as %t/wb.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=WB
# RUN: not %heddle as %t/pf.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=PF
# RUN: not %heddle as %t/local.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=LOCAL
# RUN: not %heddle as %t/lu.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=LU
# RUN: not %heddle as %t/cs.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=CS
# RUN: not %heddle as %t/const.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=CONST
# RUN: not %heddle as %t/ldu.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=LDU
# RUN: not %heddle as %t/ivall.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=IVALL
# RUN: not %heddle as %t/none.s -o %t/x.o 2>&1 | FileCheck %s --check-prefix=NONE
# CHECK: ld.global.b32 m0
# CHECK: ld.global.b32.cg m0
# CHECK: ld.global.b32.cs m0
# CHECK: ld.global.b32.cv m0
# CHECK: ld.private.b32.lu m0
# CHECK: st.global.b32 [
# CHECK: st.global.b32.wt [
# CHECK: ldu.constant.b64 m[0:1]
# CHECK: cctl.d.qry1 m0
# CHECK: cctl.u.pf1.5 [
# CHECK: cctl.d.iv [
# CHECK: cctll.d.rs [4]
# WB: wb.s:3{{.*}}`cctl.u` has no operation `.wb` (K6)
# PF: `cctl.d` has no operation `.pf1.5` (K6)
# LOCAL: `cctll.c` has no operation `.iv` (K6)
# LU: `ld` does not take `.lu`
# CS: a load of private memory has no `.cs`
# CONST: the constant space has no cache policy `.cg` (K6)
# LDU: `ldu` reads global and constant memory, not private (K2)
# IVALL: `ivall` takes no address
# NONE: `cctl` needs an operation: qry1, pf1, pf1.5, pf2, wb, iv, ivall or rs
#--- good.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":16,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 ld.global.b32.ca m0, [s[0:1]]
  c3 ld.global.b32.cg m0, [s[0:1]]
  c3 ld.global.b32.cs m0, [s[0:1]]
  c3 ld.global.b32.cv m0, [s[0:1]]
  c3 ld.private.b32.lu m0, [4]
  c3 st.global.b32.wb [s[0:1]], m0
  c3 st.global.b32.wt [s[0:1]], m0
  c3 ldu.constant.b64 m[0:1], [s[0:1] + 8]
  c3 cctl.qry1 m0, [s[0:1]]
  c3 cctl.u.pf1.5 [s[0:1] + u32 m0 + 64]
  c3 cctl.iv [s[0:1]]
  c3 cctll.rs [4]
  exit
#--- wb.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 cctl.u.wb [s[0:1]]
  exit
#--- pf.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 cctl.pf1.5 [s[0:1]]
#--- local.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 cctll.c.iv [0]
#--- lu.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 ld.global.b32.lu m0, [s[0:1]]
#--- cs.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 ld.private.b32.cs m0, [0]
#--- const.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 ld.constant.b32.cg m0, [s[0:1]]
#--- ldu.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 ldu.private.b32 m0, [0]
#--- ivall.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 cctl.ivall [s[0:1]]
#--- none.s
.object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":2,"predicate_registers":0,"required_work_group":null,"warp_size":32}
  c3 cctl.d [s[0:1]]
