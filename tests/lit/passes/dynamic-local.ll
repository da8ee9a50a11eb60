; Local variables that are declared only are one argument of the kernels that use them, constant expressions included.
; RUN: %heddle opt --passes=dynamic-local %s | FileCheck %s

@s = external addrspace(3) global [0 x float], align 4
@t = external addrspace(3) global [0 x i32], align 16
@own = internal addrspace(3) global [4 x i32] undef

; CHECK-LABEL: define spir_kernel void @none(ptr addrspace(1) %a)
define spir_kernel void @none(ptr addrspace(1) %a) {
  store i32 2, ptr addrspace(3) @own
  ret void
}

; CHECK-LABEL: define spir_kernel void @k(ptr addrspace(1) %a, i1 %c, ptr addrspace(3) %t)
; CHECK: left:
; CHECK: [[AT:%.*]] = getelementptr inbounds [0 x float], ptr addrspace(3) %t, i64 0, i64 3
; CHECK: br label %end
; CHECK: right:
; CHECK: [[CAST:%.*]] = addrspacecast ptr addrspace(3) %t to ptr
; CHECK: store i32 1, ptr [[CAST]]
; CHECK: end:
; CHECK: phi ptr addrspace(3) [ [[AT]], %left ], [ %t, %right ]
; CHECK: store i32 2, ptr addrspace(3) @own
define spir_kernel void @k(ptr addrspace(1) %a, i1 %c) {
  br i1 %c, label %left, label %right
left:
  br label %end
right:
  store i32 1, ptr addrspacecast (ptr addrspace(3) @t to ptr)
  br label %end
end:
  %p = phi ptr addrspace(3) [ getelementptr inbounds ([0 x float], ptr addrspace(3) @s, i64 0, i64 3), %left ], [ @t, %right ]
  store float 1.0, ptr addrspace(3) %p
  store i32 2, ptr addrspace(3) @own
  ret void
}
