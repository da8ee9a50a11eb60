; Loops whose step only a launch knows have copies in front of them, in which the lanes of a warp stay together.
; RUN: %heddle opt --passes=heddle-unroll %s | FileCheck %s
; A second time nothing becomes more.
; RUN: %heddle opt --passes=heddle-unroll,heddle-unroll %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z14get_local_sizej(i32)
declare i64 @_Z15get_global_sizej(i32)
declare i64 @_Z13get_global_idj(i32)

; Local ids are below the local size, so one comparison says for all lanes whether they have four iterations left. What is behind begins
; where the copies ended, one number further for all lanes.
; CHECK-LABEL: define spir_kernel void @local
; CHECK: %[[DISTANCE:.*]] = shl i32 %step, 2
; CHECK: %[[LAST:.*]] = sub i32 %n, %[[DISTANCE]]
; CHECK-NOT: ballot
; CHECK: loop:
; CHECK-COUNT-1: load float
; CHECK-NOT: load
; CHECK: copies:
; CHECK: %[[GROWN:.*]] = phi i32
; CHECK: add i32 %[[GROWN]], %id
; CHECK-COUNT-4: load float
; CHECK-NOT: load
; CHECK: %[[STAY:.*]] = icmp sgt i32 %{{.*}}, %[[LAST]]
; CHECK: br i1 %[[STAY]], label %copies.exit, label %copies
; CHECK: rest:
; CHECK: phi i32 [ 0, %entry ]
define spir_kernel void @local(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %n) {
entry:
  %id64 = call i64 @_Z12get_local_idj(i32 0)
  %id = trunc i64 %id64 to i32
  %size = call i64 @_Z14get_local_sizej(i32 0)
  %step = trunc i64 %size to i32
  br label %loop
loop:
  %i = phi i32 [ %id, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %at
  %t = fadd float %s, %x
  %next = add nsw i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store float %t, ptr addrspace(1) %out
  ret void
}

; Where lanes begin anywhere, they vote.
; CHECK-LABEL: define spir_kernel void @anywhere
; CHECK: call i64 @__heddle_ballot
; CHECK: copies:
; CHECK-COUNT-4: load float
; CHECK: %[[LEFT:.*]] = call i64 @__heddle_ballot
; CHECK: %[[ALL:.*]] = icmp eq i64 %[[LEFT]], 0
; CHECK: br i1 %[[ALL]], label %copies, label %copies.exit
define spir_kernel void @anywhere(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %n, i32 %step, ptr addrspace(1) %from) {
entry:
  %start = load volatile i32, ptr addrspace(1) %from
  br label %loop
loop:
  %i = phi i32 [ %start, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %at
  %t = fadd float %s, %x
  %next = add i32 %i, %step
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store float %t, ptr addrspace(1) %out
  ret void
}

; A counter of 32 bits that clang computes with 64, from a global id: only without an offset are ids below the size. The bound is met, too.
; CHECK-LABEL: define spir_kernel void @wide
; CHECK: call i64 @_Z17get_global_offsetj
; CHECK: loop:
; CHECK: phi i32
; CHECK-NOT: ashr
; CHECK: copies:
; CHECK-COUNT-4: load float
define spir_kernel void @wide(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %n) {
entry:
  %id = call i64 @_Z13get_global_idj(i32 0)
  %size = call i64 @_Z15get_global_sizej(i32 0)
  br label %loop
loop:
  %i = phi i64 [ %id, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %high = shl i64 %i, 32
  %low = ashr exact i64 %high, 32
  %at = getelementptr float, ptr addrspace(1) %p, i64 %low
  %x = load float, ptr addrspace(1) %at
  %t = fadd float %s, %x
  %next = add nsw i64 %low, %size
  %cut = trunc i64 %next to i32
  %more = icmp sgt i32 %cut, %n
  br i1 %more, label %end, label %loop
end:
  store float %t, ptr addrspace(1) %out
  ret void
}

; The same number in all lanes needs no vote.
; CHECK-LABEL: define spir_kernel void @together
; CHECK-NOT: ballot
; CHECK: copies:
; CHECK-COUNT-4: load float
; CHECK-NOT: ballot
; CHECK: br i1 %{{.*}}, label %copies, label %copies.exit
define spir_kernel void @together(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %n, i32 %step) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %at
  %t = fadd float %s, %x
  %next = add i32 %i, %step
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store float %t, ptr addrspace(1) %out
  ret void
}

; Tiles of a size that is known are short, and what waits for no memory gains little.
; CHECK-LABEL: define spir_kernel void @tile
; CHECK-NOT: copies
; CHECK-LABEL: define spir_kernel void @no_load
; CHECK-NOT: copies
define spir_kernel void @tile(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %step) {
entry:
  %id64 = call i64 @_Z12get_local_idj(i32 0)
  %id = trunc i64 %id64 to i32
  br label %loop
loop:
  %i = phi i32 [ %id, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %at
  %to = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %x, ptr addrspace(1) %to
  %next = add nsw i32 %i, %step
  %more = icmp slt i32 %next, 256
  br i1 %more, label %loop, label %end
end:
  ret void
}
define spir_kernel void @no_load(ptr addrspace(1) %out, i32 %n, i32 %step) {
entry:
  %id64 = call i64 @_Z12get_local_idj(i32 0)
  %id = trunc i64 %id64 to i32
  br label %loop
loop:
  %i = phi i32 [ %id, %entry ], [ %next, %loop ]
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 0, ptr addrspace(1) %to
  %next = add nsw i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; What is left of the size in eight bits may be less than ids are.
; CHECK-LABEL: define spir_kernel void @cut
; CHECK: call i64 @__heddle_ballot
define spir_kernel void @cut(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %n) {
entry:
  %id64 = call i64 @_Z13get_global_idj(i32 0)
  %id = trunc i64 %id64 to i32
  %size = call i64 @_Z15get_global_sizej(i32 0)
  %byte = trunc i64 %size to i8
  store i8 %byte, ptr addrspace(1) %out
  %step = sext i8 %byte to i32
  br label %loop
loop:
  %i = phi i32 [ %id, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %at
  %t = fadd float %s, %x
  %next = add i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store float %t, ptr addrspace(1) %out
  ret void
}
; The counter of 64 bits becomes the other one, which it is of 32: what is left over has one.
; CHECK-LABEL: define spir_kernel void @twice
; CHECK: loop:
; CHECK-COUNT-1: phi i32
; CHECK-NOT: phi i{{32|64}}
; CHECK: load float
; CHECK: copies:
; CHECK-COUNT-4: load float
define spir_kernel void @twice(ptr addrspace(1) %p, ptr addrspace(1) %out, i32 %n, i32 %row) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %id32 = trunc i64 %id to i32
  %step = call i64 @_Z14get_local_sizej(i32 0)
  br label %loop
loop:
  %i = phi i32 [ %id32, %entry ], [ %next32, %loop ]
  %wide = phi i64 [ %id, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %place = add i32 %i, %row
  %at = getelementptr float, ptr addrspace(1) %p, i32 %place
  %x = load float, ptr addrspace(1) %at
  %t = fadd float %s, %x
  %high = shl i64 %wide, 32
  %old = ashr exact i64 %high, 32
  %next = add i64 %old, %step
  %next32 = trunc i64 %next to i32
  %more = icmp slt i32 %next32, %n
  br i1 %more, label %loop, label %end
end:
  store float %t, ptr addrspace(1) %out
  ret void
}

; CHECK: attributes {{.*}} convergent
