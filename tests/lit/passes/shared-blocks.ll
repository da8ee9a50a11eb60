; Blocks that both sides of a divergent branch lead to before its post-dominator run once: lanes come together before them.
; RUN: %heddle opt --passes='heddle-prepare' %s | FileCheck %s
; RUN: %heddle opt --passes='heddle-prepare,print<uniformity>' --disable-output %s | FileCheck %s --check-prefix=UNIFORM

declare i64 @_Z12get_local_idj(i32)
declare void @_Z7barrierj(i32) convergent

; Jump threading has led the side where %c does not hold past %join; it asks again, which is uniform.
; CHECK-LABEL: define spir_kernel void @threaded
; CHECK: side:
; CHECK: br i1 %c.not, label %join, label %more
; CHECK: join:
; CHECK-NEXT: [[X:%.*]] = phi i32 [ 1, %entry ], [ 3, %side ], [ 1, %more ]
; CHECK-NEXT: br i1 %c.not, label %end, label %both
; CHECK: end:
; CHECK-NEXT: phi i32 [ 2, %both ], [ [[X]], %join ]
; UNIFORM-LABEL: uniformity of 'threaded':
; UNIFORM: block join:
; UNIFORM: uniform branch: br i1 %c.not
; UNIFORM: block both:
define spir_kernel void @threaded(ptr addrspace(1) %p, i32 %arg) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %first = icmp eq i64 %id, 0
  %c = icmp ne i32 %arg, 0
  br i1 %first, label %side, label %join
side:
  store i32 7, ptr addrspace(1) %p
  br i1 %c, label %more, label %end
more:
  %q = getelementptr i32, ptr addrspace(1) %p, i64 1
  store i32 8, ptr addrspace(1) %q
  br label %join
join:
  br i1 %c, label %both, label %end
both:
  call void @_Z7barrierj(i32 1)
  br label %end
end:
  %x = phi i32 [ 3, %side ], [ 1, %join ], [ 2, %both ]
  %r = getelementptr i32, ptr addrspace(1) %p, i64 %id
  store i32 %x, ptr addrspace(1) %r
  ret void
}

; Lanes with either condition call the barrier together.
; CHECK-LABEL: define spir_kernel void @either
; CHECK: entry:
; CHECK: br i1 %a, label %together, label %second
; CHECK: second:
; CHECK: br label %together
; CHECK: both:
; CHECK: call void @_Z7barrierj
; CHECK: together:
; CHECK-NEXT: phi i32 [ 0, %entry ], [ %v, %second ]
; CHECK-NEXT: [[WHICH:%.*]] = phi i1 [ true, %entry ], [ {{%.*}}, %second ]
; CHECK: br i1 [[WHICH]], label %both, label %end
define spir_kernel void @either(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %a = icmp ult i64 %id, 16
  br i1 %a, label %both, label %second
second:
  %q = getelementptr i32, ptr addrspace(1) %p, i64 %id
  %v = load i32, ptr addrspace(1) %q
  %b = icmp ne i32 %v, 0
  br i1 %b, label %both, label %end
both:
  %w = phi i32 [ 0, %entry ], [ %v, %second ]
  call void @_Z7barrierj(i32 1)
  store i32 %w, ptr addrspace(1) %p
  br label %end
end:
  ret void
}

; What is shared costs less than a branch more.
; CHECK-LABEL: define spir_kernel void @little
; CHECK-NOT: together
; CHECK: ret void
define spir_kernel void @little(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %a = icmp ult i64 %id, 16
  br i1 %a, label %both, label %second
second:
  %q = getelementptr i32, ptr addrspace(1) %p, i64 %id
  %v = load i32, ptr addrspace(1) %q
  %b = icmp ne i32 %v, 0
  br i1 %b, label %both, label %end
both:
  store i32 1, ptr addrspace(1) %p
  br label %end
end:
  ret void
}
