; Variables in local memory as large as several of the longest loads, and a kernel's pointers to it, begin where such a load does;
; elements in a row become one load.
; RUN: %heddle opt --passes=local-alignment %s | FileCheck %s
; RUN: %heddle build %s --emit ir -o - | FileCheck %s --check-prefix=LOADS
target triple = "nvptx64--"

; CHECK: @tile = internal addrspace(3) global [4 x [8 x float]] undef, align 16
; CHECK: @odd = internal addrspace(3) global [5 x float] undef, align 4
; CHECK: @more = internal addrspace(3) global [8 x float] undef, align 32
; CHECK: @outside = internal addrspace(1) global [8 x float] zeroinitializer, align 4
@tile = internal addrspace(3) global [4 x [8 x float]] undef, align 4
@odd = internal addrspace(3) global [5 x float] undef, align 4
@more = internal addrspace(3) global [8 x float] undef, align 32
@outside = internal addrspace(1) global [8 x float] zeroinitializer, align 4

; CHECK: define spir_kernel void @k(ptr addrspace(3) align 16 %a, ptr addrspace(3) align 64 %b, ptr addrspace(1) align 4 %out, i32 %i)
; LOADS-LABEL: define {{.*}}spir_kernel void @k(
; LOADS: load <4 x float>
; LOADS: load <4 x float>
; LOADS: ret void
define spir_kernel void @k(ptr addrspace(3) align 4 %a, ptr addrspace(3) align 64 %b, ptr addrspace(1) align 4 %out, i32 %i) {
  %row = getelementptr [8 x float], ptr addrspace(3) @tile, i32 %i
  %x0 = load float, ptr addrspace(3) %row, align 4
  %p1 = getelementptr float, ptr addrspace(3) %row, i32 1
  %x1 = load float, ptr addrspace(3) %p1, align 4
  %p2 = getelementptr float, ptr addrspace(3) %row, i32 2
  %x2 = load float, ptr addrspace(3) %p2, align 4
  %p3 = getelementptr float, ptr addrspace(3) %row, i32 3
  %x3 = load float, ptr addrspace(3) %p3, align 4
  %at = getelementptr [4 x float], ptr addrspace(3) %a, i32 %i
  %y0 = load float, ptr addrspace(3) %at, align 4
  %q1 = getelementptr float, ptr addrspace(3) %at, i32 1
  %y1 = load float, ptr addrspace(3) %q1, align 4
  %q2 = getelementptr float, ptr addrspace(3) %at, i32 2
  %y2 = load float, ptr addrspace(3) %q2, align 4
  %q3 = getelementptr float, ptr addrspace(3) %at, i32 3
  %y3 = load float, ptr addrspace(3) %q3, align 4
  %m0 = fmul float %x0, %y0
  %m1 = fmul float %x1, %y1
  %m2 = fmul float %x2, %y2
  %m3 = fmul float %x3, %y3
  %s1 = fadd float %m0, %m1
  %s2 = fadd float %m2, %m3
  %s = fadd float %s1, %s2
  %to = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %s, ptr addrspace(1) %to, align 4
  ret void
}
