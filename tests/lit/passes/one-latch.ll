; The edges that leave a loop or begin its next iteration go through one block, so that lanes are in the same iteration: the counter is uniform again.
; Loops that are in step, and acyclic code, stay as they are.
; RUN: %heddle opt --passes='heddle-prepare' %s | FileCheck %s
; RUN: %heddle opt --passes='heddle-prepare,print<uniformity>' --disable-output %s | FileCheck %s --check-prefix=UNIFORM

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: define spir_kernel void @one_way_out
; CHECK: loop:
; CHECK-NEXT: [[X:%.*]] = phi i32 [ %t, %entry ], [ [[NEXT:%.*]], %loop.latch ]
; CHECK-NEXT: [[I:%.*]] = phi i32 [ 0, %entry ], [ %i1, %loop.latch ]
; CHECK: br i1 {{.*}}, label %even, label %odd
; CHECK: odd:
; CHECK: br label %[[LATCH:.*]]
; CHECK: even:
; CHECK: br i1 %d, label %[[LATCH]], label %loop.latch
; CHECK: loop.latch:
; CHECK: [[NEXT]] = phi i32 [ {{%.*}}, %[[LATCH]] ], [ poison, %even ]
; CHECK: [[STAYS:%.*]] = phi i1 [ true, %[[LATCH]] ], [ false, %even ]
; CHECK: br i1 [[STAYS]], label %loop, label %end
; UNIFORM-LABEL: uniformity of 'one_way_out':
; UNIFORM: block loop:
; UNIFORM-NEXT: varying {{.*}} = phi i32 [ %t, %entry ]
; UNIFORM-NEXT: uniform: {{.*}} = phi i32 [ 0, %entry ], [ %i1, %loop.latch ]
; UNIFORM: block loop.latch:
; UNIFORM: divergent branch: br i1
define spir_kernel void @one_way_out(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %odd ], [ %i1, %even ]
  %x = phi i32 [ %t, %entry ], [ %up, %odd ], [ %down, %even ]
  %i1 = add i32 %i, 1
  %bit = and i32 %x, 1
  %c = icmp ne i32 %bit, 0
  br i1 %c, label %odd, label %even
odd:
  %three = mul i32 %x, 3
  %up = add i32 %three, 1
  br label %loop
even:
  %down = lshr i32 %x, 1
  %d = icmp ugt i32 %down, 1
  br i1 %d, label %loop, label %end
end:
  store i32 %i1, ptr addrspace(1) %p
  ret void
}

; Two ways out: a number says where a lane goes behind the latch.
; CHECK-LABEL: define spir_kernel void @two_ways_out
; CHECK: loop.latch:
; CHECK: [[CHOICE:%.*]] = phi i32
; CHECK: [[STAYS:%.*]] = icmp eq i32 [[CHOICE]], 0
; CHECK-NEXT: br i1 [[STAYS]], label %{{.*}}, label %loop.exit
; CHECK: loop.exit:
; CHECK: [[FIRST:%.*]] = icmp eq i32 {{.*}}, 1
; CHECK-NEXT: br i1 [[FIRST]], label %{{.*}}, label %{{.*}}
; UNIFORM-LABEL: uniformity of 'two_ways_out':
; UNIFORM: uniform: {{.*}} = phi i32 [ 0, %entry ]
define spir_kernel void @two_ways_out(ptr addrspace(1) %p, ptr addrspace(1) %q) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %i, %t
  br i1 %c, label %left, label %right
left:
  %five = icmp eq i32 %i, 5
  br i1 %five, label %first, label %latch
right:
  %seven = icmp eq i32 %i, 7
  br i1 %seven, label %second, label %latch
latch:
  br label %loop
first:
  store volatile i32 %i1, ptr addrspace(1) %p
  br label %end
second:
  store volatile i32 7, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
