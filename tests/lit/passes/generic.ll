; Generic pointers: what inference resolves costs nothing, what it cannot is a branch on the aperture in the high word.
; RUN: %heddle opt --passes=generic %s | FileCheck %s
; RUN: %heddle opt --passes=generic,verify --disable-output %s

declare ptr addrspace(3) @__to_local(ptr)
declare i32 @_Z9get_fencePv(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)

; A cast of a known pointer is taken back, through arithmetic and a phi.
; CHECK-LABEL: define spir_kernel void @known
; CHECK-NOT: addrspacecast
; CHECK: load i32, ptr addrspace(1)
; CHECK: store i32 {{.*}}, ptr addrspace(1)
define spir_kernel void @known(ptr addrspace(1) %a, i1 %c) {
entry:
  %g = addrspacecast ptr addrspace(1) %a to ptr
  br i1 %c, label %then, label %end
then:
  %h = getelementptr i32, ptr %g, i64 5
  br label %end
end:
  %p = phi ptr [ %g, %entry ], [ %h, %then ]
  %v = load i32, ptr %p
  %w = add i32 %v, 1
  store i32 %w, ptr %p
  ret void
}

; Local or global: two spaces, one comparison with 0x80000003; there is no private variable.
; CHECK-LABEL: define spir_kernel void @either
; CHECK: %[[P:.*]] = select i1 %c, ptr %{{.*}}, ptr
; CHECK: %[[BITS:.*]] = ptrtoint ptr %[[P]] to i64
; CHECK: %[[WIDE:.*]] = lshr i64 %[[BITS]], 32
; CHECK: %[[HIGH:.*]] = trunc {{.*}}i64 %[[WIDE]] to i32
; CHECK: %[[LOCAL:.*]] = icmp eq i32 %[[HIGH]], -2147483645
; CHECK: br i1 %[[LOCAL]]
; CHECK: addrspacecast ptr %[[P]] to ptr addrspace(3)
; CHECK: load i32, ptr addrspace(3)
; CHECK: addrspacecast ptr %[[P]] to ptr addrspace(1)
; CHECK: load i32, ptr addrspace(1)
; CHECK-NOT: addrspace(5)
; CHECK: ret void
define spir_kernel void @either(ptr addrspace(1) %a, ptr addrspace(3) %l, i1 %c) {
  %g = addrspacecast ptr addrspace(1) %a to ptr
  %h = addrspacecast ptr addrspace(3) %l to ptr
  %p = select i1 %c, ptr %g, ptr %h
  %v = load i32, ptr %p
  store i32 %v, ptr addrspace(1) %a
  ret void
}

; Atomics keep their order where memory is shared; on private memory they are plain.
; CHECK-LABEL: define spir_kernel void @atomics
; CHECK: atomicrmw umax ptr addrspace(3) {{.*}} seq_cst
; CHECK: load i32, ptr addrspace(5)
; CHECK: store i32 {{.*}}, ptr addrspace(5)
define spir_kernel void @atomics(ptr addrspace(3) %l, ptr addrspace(1) %a, i1 %c) {
  %x = alloca i32
  store i32 7, ptr %x
  %h = addrspacecast ptr addrspace(3) %l to ptr
  %p = select i1 %c, ptr %x, ptr %h
  %old = atomicrmw umax ptr %p, i32 9 seq_cst
  %v = load i32, ptr %x
  %s = add i32 %v, %old
  store i32 %s, ptr addrspace(1) %a
  ret void
}

; A memset and a copy are those of the space, with their alignments.
; CHECK-LABEL: define spir_kernel void @fill
; CHECK: call void @llvm.memset.p3.i64(ptr addrspace(3) align 4 {{.*}}, i8 0, i64 64, i1 false)
; CHECK: call void @llvm.memset.p1.i64(ptr addrspace(1) align 4 {{.*}}, i8 0, i64 64, i1 false)
; CHECK: call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 8 {{.*}}, ptr addrspace(1) align 4 %a, i64 16, i1 false)
; CHECK: call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 8 {{.*}}, ptr addrspace(1) align 4 %a, i64 16, i1 false)
define spir_kernel void @fill(ptr addrspace(1) %a, ptr addrspace(3) %l, i1 %c) {
  %g = addrspacecast ptr addrspace(1) %a to ptr
  %h = addrspacecast ptr addrspace(3) %l to ptr
  %p = select i1 %c, ptr %g, ptr %h
  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 64, i1 false)
  call void @llvm.memcpy.p0.p1.i64(ptr align 8 %p, ptr addrspace(1) align 4 %a, i64 16, i1 false)
  ret void
}

; The functions that ask are comparisons.
; CHECK-LABEL: define spir_kernel void @ask
; CHECK-NOT: call
; CHECK: ret void
define spir_kernel void @ask(ptr addrspace(1) %a, ptr addrspace(3) %l, i1 %c) {
  %g = addrspacecast ptr addrspace(1) %a to ptr
  %h = addrspacecast ptr addrspace(3) %l to ptr
  %p = select i1 %c, ptr %g, ptr %h
  %q = call ptr addrspace(3) @__to_local(ptr %p)
  %is = icmp ne ptr addrspace(3) %q, null
  %x = zext i1 %is to i32
  %f = call i32 @_Z9get_fencePv(ptr %p)
  %s = add i32 %x, %f
  store i32 %s, ptr addrspace(1) %a
  ret void
}
