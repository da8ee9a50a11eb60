; What metadata calls a kernel gets a kernel's calling convention, its name in the source, pointers to global memory, and what
; clang tells of OpenCL C's parameters. Constants leave the generic address space. Processors' names go.
; RUN: %heddle opt --passes=cuda-kernels %s | FileCheck %s
; RUN: %heddle opt --passes='cuda-kernels,cuda-kernels' %s | FileCheck %s

target triple = "nvptx64--"

%struct.P = type { float, i32 }

; CHECK-DAG: @.str = private unnamed_addr addrspace(4) constant [3 x i8] c"%d\00"
; CHECK-DAG: @counter = addrspace(1) global i32 7
; CHECK-DAG: @table = internal addrspace(4) constant ptr addrspacecast (ptr addrspace(4) @.str to ptr)
; CHECK-NOT: @llvm.compiler.used
@.str = private unnamed_addr constant [3 x i8] c"%d\00", align 1
@counter = addrspace(1) externally_initialized global i32 7, align 4
@table = internal constant ptr @.str, align 8
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @counter to ptr)], section "llvm.metadata"

; CHECK: define void @helper(ptr %p)
define void @helper(ptr %p) #0 {
  store i32 0, ptr %p
  ret void
}

; CHECK-LABEL: define spir_kernel void @"scale<float>"(ptr addrspace(1) noalias %a, ptr byval(%struct.P) align 4 %p, i32 %n)
; CHECK-SAME: !kernel_arg_type [[TYPES:![0-9]+]]
; CHECK: [[GENERIC:%.*]] = addrspacecast ptr addrspace(1) %a to ptr
; CHECK: store i32 %n, ptr [[GENERIC]]
; CHECK: ret void
define weak_odr void @_Z5scaleIfEvPT_1Pi(ptr noalias %a, ptr byval(%struct.P) align 4 %p, i32 %n) #0 {
  store i32 %n, ptr %a
  call void @helper(ptr %a)
  ret void
}

; A name that is not mangled stays, and its parameters have the names of their types in IR.
; CHECK-LABEL: define spir_kernel void @plain(ptr addrspace(1) %b, double %x)
define void @plain(ptr %b, double %x) {
  ret void
}

; CHECK-DAG: attributes #0 = { convergent }
; CHECK-DAG: [[TYPES]] = !{!"float*", !"P", !"int"}
; CHECK-DAG: !{!"void*", !"double"}
attributes #0 = { convergent "target-cpu"="sm_70" "target-features"="+ptx42" }
!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @_Z5scaleIfEvPT_1Pi, !"kernel", i32 1}
!1 = !{ptr @plain, !"kernel", i32 1}
!2 = !{ptr @helper, !"maxntidx", i32 64}
