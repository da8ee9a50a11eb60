; Masked accesses and matrices are taken apart by LLVM's passes; masks of pointers and the cycle counter become instructions.
; RUN: %heddle opt --passes=intrinsics %s -o - | FileCheck %s
; RUN: %heddle run %s --kernel k --global 16 --local 16 --arg in=zeros:int32:64 --arg out=zeros:int32:64,save=%t.npy --mode timing --verify
; RUN: od -An -v -w64 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=MASKED
; RUN: %heddle run %s --kernel k --global 16 --local 16 --arg in=zeros:int32:64 --arg out=zeros:int32:64,save=%t.npy --option=-O0 --check=all
; RUN: od -An -v -w64 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=MASKED
; MASKED: -1 0 -3 -4 0 0 -3 -4 -1 7 -3 -4 0 7 -3 -4
; MASKED-NEXT: -1 0 0 -4 0 0 0 -4 -1 7 0 -4 0 7 0 -4
; MASKED-NEXT: -1 0 -3 0 0 0 -3 0 -1 7 -3 0 0 7 -3 0
; MASKED-NEXT: -1 0 0 0 0 0 0 0 -1 7 0 0 0 7 0 0
; RUN: %heddle run %s --kernel product --global 1 --local 1 --arg out=zeros:float32:4,save=%t.npy --verify
; RUN: od -An -v -w16 -tf4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=PRODUCT
; PRODUCT: 23 34 31 46
; RUN: %heddle run %s --kernel aligned --global 8 --local 8 --arg x=zeros:int32:8 --arg out=zeros:int64:8,save=%t.npy --verify
; RUN: od -An -v -w64 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=ALIGNED
; ALIGNED: 0 4 8 12 0 4 8 12
; RUN: %heddle run %s --kernel later --global 1 --local 1 --arg out=zeros:int64:1,save=%t.npy --verify
; RUN: od -An -v -w8 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=LATER
; LATER: 1
target triple = "nvptx64--"
declare i64 @_Z13get_global_idj(i32)
declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), i32, <4 x i1>)
declare <4 x float> @llvm.matrix.multiply.v4f32.v4f32.v4f32(<4 x float>, <4 x float>, i32, i32, i32)
; CHECK-LABEL: define spir_kernel void @k
; CHECK-NOT: call {{.*}}@llvm.masked
; CHECK: cond.load:
; CHECK: load i32
; CHECK: cond.store:
; CHECK: store i32
; CHECK-NOT: call {{.*}}@llvm.masked
; CHECK: ret void
define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %n = trunc i64 %i to i32
  %a0 = insertelement <4 x i32> poison, i32 %n, i32 0
  %a = shufflevector <4 x i32> %a0, <4 x i32> poison, <4 x i32> zeroinitializer
  %m = and <4 x i32> %a, <i32 1, i32 2, i32 4, i32 8>
  %mask = icmp ne <4 x i32> %m, zeroinitializer
  %p = getelementptr <4 x i32>, ptr addrspace(1) %in, i64 %i
  store <4 x i32> <i32 7, i32 7, i32 7, i32 7>, ptr addrspace(1) %p
  %v = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) %p, i32 4, <4 x i1> %mask, <4 x i32> <i32 -1, i32 -2, i32 -3, i32 -4>)
  %q = getelementptr <4 x i32>, ptr addrspace(1) %out, i64 %i
  %not = xor <4 x i1> %mask, <i1 1, i1 0, i1 1, i1 1>
  call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) %q, i32 4, <4 x i1> %not)
  ret void
}
; CHECK-LABEL: define spir_kernel void @product
; CHECK-NOT: call {{.*}}@llvm.matrix
; CHECK: ret void
define spir_kernel void @product(ptr addrspace(1) %out) {
  %r = call <4 x float> @llvm.matrix.multiply.v4f32.v4f32.v4f32(<4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, <4 x float> <float 5.0, float 6.0, float 7.0, float 8.0>, i32 2, i32 2, i32 2)
  store <4 x float> %r, ptr addrspace(1) %out
  ret void
}
; CHECK-LABEL: define spir_kernel void @aligned
; CHECK: [[ADDRESS:%.*]] = ptrtoint ptr addrspace(1) %p to i64
; CHECK-NEXT: [[ROUNDED:%.*]] = and i64 [[ADDRESS]], -16
; CHECK-NEXT: [[OFFSET:%.*]] = sub i64 [[ROUNDED]], [[ADDRESS]]
; CHECK-NEXT: getelementptr i8, ptr addrspace(1) %p, i64 [[OFFSET]]
define spir_kernel void @aligned(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %q = call ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1) %p, i64 -16)
  %a = ptrtoint ptr addrspace(1) %p to i64
  %b = ptrtoint ptr addrspace(1) %q to i64
  %d = sub i64 %a, %b
  %o = getelementptr i64, ptr addrspace(1) %out, i64 %i
  store i64 %d, ptr addrspace(1) %o
  ret void
}
; CHECK-LABEL: define spir_kernel void @later
; CHECK: call i32 @__heddle_clock()
; CHECK: call i32 @__heddle_clock()
define spir_kernel void @later(ptr addrspace(1) %out) {
  %before = call i64 @llvm.readcyclecounter()
  %x = load volatile i64, ptr addrspace(1) %out
  %y = add i64 %x, %before
  store volatile i64 %y, ptr addrspace(1) %out
  %after = call i64 @llvm.readcyclecounter()
  %is = icmp ugt i64 %after, %before
  %size = call i64 @llvm.objectsize.i64.p1(ptr addrspace(1) %out, i1 false, i1 false, i1 false)
  %unknown = icmp eq i64 %size, -1
  %both = and i1 %is, %unknown
  %bit = zext i1 %both to i64
  store i64 %bit, ptr addrspace(1) %out
  ret void
}
declare ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1), i64)
declare i64 @llvm.readcyclecounter()
declare i64 @llvm.objectsize.i64.p1(ptr addrspace(1), i1, i1, i1)
