; Copies whose size is known at run time only, or large, are loops; small ones stay.
; RUN: %heddle opt --passes=copies %s -o - | FileCheck %s
target triple = "nvptx64--"
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p1.p4.i32(ptr addrspace(1), ptr addrspace(4), i32, i1)
declare void @llvm.memmove.p3.p3.i64(ptr addrspace(3), ptr addrspace(3), i64, i1)
declare void @llvm.memmove.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)

; Four units of 16 bytes in each iteration, all loaded before one is stored, then single ones, then bytes.
; CHECK-LABEL: define spir_kernel void @by_quads
; CHECK: [[MANY:%.*]] = and i64 %n, -64
; CHECK-NEXT: [[UNITS:%.*]] = and i64 %n, -16
; CHECK-NEXT: icmp eq i64 0, [[MANY]]
; CHECK-COUNT-4: load <4 x i32>, {{.*}}, align 16
; CHECK-COUNT-4: store <4 x i32> {{.*}}, align 16
; CHECK: icmp eq i64 [[MANY]], [[UNITS]]
; CHECK: load <4 x i32>
; CHECK-NEXT: getelementptr
; CHECK-NEXT: store <4 x i32>
; CHECK: icmp eq i64 [[UNITS]], %n
; CHECK: load i8
; CHECK-NEXT: getelementptr
; CHECK-NEXT: store i8
; CHECK-NOT: load
; CHECK: ret void
define spir_kernel void @by_quads(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 %n) {
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 16 %to, ptr addrspace(1) align 32 %from, i64 %n, i1 false)
  ret void
}

; A constant size has the loops that it needs: 1030 is 64 times 16, and 6.
; CHECK-LABEL: define spir_kernel void @constant
; CHECK: phi i64 [ 0, %0 ]
; CHECK-COUNT-4: load volatile i32
; CHECK: icmp eq i64 {{.*}}, 1024
; CHECK: load volatile i32
; CHECK: icmp eq i64 {{.*}}, 1028
; CHECK: load volatile i8
; CHECK: icmp eq i64 {{.*}}, 1030
; CHECK: ret void
define spir_kernel void @constant(ptr addrspace(1) %to, ptr addrspace(4) %from) {
  call void @llvm.memcpy.p1.p4.i32(ptr addrspace(1) align 4 %to, ptr addrspace(4) align 4 %from, i32 1030, i1 true)
  ret void
}

; What overlaps is copied from the end where the destination is behind the source.
; CHECK-LABEL: define spir_kernel void @overlapping
; CHECK: [[FROM:%.*]] = ptrtoint ptr addrspace(3) %from to i64
; CHECK: icmp ule i64 {{.*}}, [[FROM]]
; CHECK: sub nuw i64 {{.*}}, 1
; CHECK: load i8
; CHECK: store i8
; CHECK: sub nuw i64 {{.*}}, 4
; CHECK-COUNT-4: load i8
; CHECK-COUNT-4: store i8
; CHECK: add nuw i64 {{.*}}, 4
; CHECK: add nuw i64 {{.*}}, 1
; CHECK: ret void
define spir_kernel void @overlapping(ptr addrspace(3) %to, ptr addrspace(3) %from, i64 %n) {
  call void @llvm.memmove.p3.p3.i64(ptr addrspace(3) %to, ptr addrspace(3) %from, i64 %n, i1 false)
  ret void
}

; Sizes have no sign.
; CHECK-LABEL: define spir_kernel void @narrow
; CHECK: [[SIZE:%.*]] = zext i16 %n to i64
; CHECK: and i64 [[SIZE]], -16
; CHECK: ret void
declare void @llvm.memcpy.p1.p1.i16(ptr addrspace(1), ptr addrspace(1), i16, i1)
define spir_kernel void @narrow(ptr addrspace(1) %to, ptr addrspace(1) %from, i16 %n) {
  call void @llvm.memcpy.p1.p1.i16(ptr addrspace(1) align 4 %to, ptr addrspace(1) align 4 %from, i16 %n, i1 false)
  ret void
}

; Different memories never overlap.
; CHECK-LABEL: define spir_kernel void @apart
; CHECK-NOT: sub
; CHECK: ret void
define spir_kernel void @apart(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %n) {
  call void @llvm.memmove.p3.p1.i64(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define spir_kernel void @filled
; CHECK: [[BYTE:%.*]] = zext i8 %byte to i16
; CHECK-NEXT: mul i16 [[BYTE]], 257
; CHECK: store i16
; CHECK: store i8 %byte
; CHECK: ret void
define spir_kernel void @filled(ptr addrspace(1) %to, i8 %byte, i64 %n) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 2 %to, i8 %byte, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define spir_kernel void @small
; CHECK-NEXT: call void @llvm.memcpy
; CHECK-NEXT: call void @llvm.memset
; CHECK-NEXT: ret void
define spir_kernel void @small(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 4 %to, ptr addrspace(1) align 4 %from, i64 256, i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 1 %to, i8 1, i64 64, i1 false)
  ret void
}
