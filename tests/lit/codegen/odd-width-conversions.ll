; Conversions that clamp to a width that the machine has not, and sums of vectors that may overflow. Found by reading.
; RUN: %heddle run %s --kernel k --global 8 --local 8 --arg out=zeros:int64:8x10,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w80 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
; CHECK: 1 0 -7 0 -549755813888 0 1 4294967295 0 0
; CHECK-NEXT: 1 0 -3 0 -549755813888 0 2 0 0 1
; CHECK-NEXT: 0 0 0 0 0 0 3 1 0 1
; CHECK-NEXT: 0 1 3 3 549755813887 962072674304 4 2 0 1
; CHECK-NEXT: 0 1 7 7 549755813887 1099511627775 5 3 0 1
; CHECK-NEXT: 0 1 7 10 549755813887 1099511627775 6 4 0 1
; CHECK-NEXT: 0 1 7 14 549755813887 1099511627775 7 5 0 1
; CHECK-NEXT: 0 1 7 15 549755813887 1099511627775 8 6 0 1
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %from = sub i64 %i, 2
  %whole = sitofp i64 %from to float
  %f = fmul float %whole, 3.5
  %g = fmul float %f, 0x4250000000000000
  %s1 = call i1 @llvm.fptosi.sat.i1.f32(float %f)
  %u1 = call i1 @llvm.fptoui.sat.i1.f32(float %f)
  %s4 = call i4 @llvm.fptosi.sat.i4.f32(float %f)
  %u4 = call i4 @llvm.fptoui.sat.i4.f32(float %f)
  %s40 = call i40 @llvm.fptosi.sat.i40.f32(float %g)
  %u40 = call i40 @llvm.fptoui.sat.i40.f32(float %g)
  %n = trunc i64 %i to i32
  %a = insertelement <2 x i32> <i32 0, i32 -1>, i32 %n, i32 0
  %b = insertelement <2 x i32> <i32 1, i32 0>, i32 %n, i32 1
  %sum = call {<2 x i32>, <2 x i1>} @llvm.uadd.with.overflow.v2i32(<2 x i32> %a, <2 x i32> %b)
  %r = extractvalue {<2 x i32>, <2 x i1>} %sum, 0
  %o = extractvalue {<2 x i32>, <2 x i1>} %sum, 1
  %r0 = extractelement <2 x i32> %r, i32 0
  %r1 = extractelement <2 x i32> %r, i32 1
  %o0 = extractelement <2 x i1> %o, i32 0
  %o1 = extractelement <2 x i1> %o, i32 1
  %w0 = zext i1 %s1 to i64
  %p0 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 0
  store i64 %w0, ptr addrspace(1) %p0
  %w1 = zext i1 %u1 to i64
  %p1 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 1
  store i64 %w1, ptr addrspace(1) %p1
  %w2 = sext i4 %s4 to i64
  %p2 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 2
  store i64 %w2, ptr addrspace(1) %p2
  %w3 = zext i4 %u4 to i64
  %p3 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 3
  store i64 %w3, ptr addrspace(1) %p3
  %w4 = sext i40 %s40 to i64
  %p4 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 4
  store i64 %w4, ptr addrspace(1) %p4
  %w5 = zext i40 %u40 to i64
  %p5 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 5
  store i64 %w5, ptr addrspace(1) %p5
  %w6 = zext i32 %r0 to i64
  %p6 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 6
  store i64 %w6, ptr addrspace(1) %p6
  %w7 = zext i32 %r1 to i64
  %p7 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 7
  store i64 %w7, ptr addrspace(1) %p7
  %w8 = zext i1 %o0 to i64
  %p8 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 8
  store i64 %w8, ptr addrspace(1) %p8
  %w9 = zext i1 %o1 to i64
  %p9 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 9
  store i64 %w9, ptr addrspace(1) %p9
  ret void
}
declare i64 @_Z13get_global_idj(i32)
declare i1 @llvm.fptosi.sat.i1.f32(float)
declare i1 @llvm.fptoui.sat.i1.f32(float)
declare i4 @llvm.fptosi.sat.i4.f32(float)
declare i4 @llvm.fptoui.sat.i4.f32(float)
declare i40 @llvm.fptosi.sat.i40.f32(float)
declare i40 @llvm.fptoui.sat.i40.f32(float)
declare {<2 x i32>, <2 x i1>} @llvm.uadd.with.overflow.v2i32(<2 x i32>, <2 x i32>)
