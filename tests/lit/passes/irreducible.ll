; Irreducible regions are handled conservatively: once a branch in one diverges, everything defined in it varies. With uniform branches only, all
; stays uniform.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: uniformity of 'divergent':
; CHECK: varying ({{.*}}): %x = phi
; CHECK: varying ({{.*}}): %y = phi
; CHECK: varying ({{.*}}): %out = phi
define spir_kernel void @divergent(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  %c = icmp slt i32 %t, 7
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ 0, %entry ], [ %y1, %b ]
  %x1 = add i32 %x, 1
  br label %b
b:
  %y = phi i32 [ 5, %entry ], [ %x1, %a ]
  %y1 = add i32 %y, 2
  %d = icmp slt i32 %y1, %t
  br i1 %d, label %a, label %done
done:
  %out = phi i32 [ %y1, %b ]
  store i32 %out, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: uniformity of 'all_uniform':
; CHECK: uniform: %x = phi
; CHECK: uniform: %y = phi
define spir_kernel void @all_uniform(i32 %n, ptr addrspace(1) %p) {
entry:
  %c = icmp slt i32 %n, 7
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ 0, %entry ], [ %y1, %b ]
  %x1 = add i32 %x, 1
  br label %b
b:
  %y = phi i32 [ 5, %entry ], [ %x1, %a ]
  %y1 = add i32 %y, 2
  %d = icmp slt i32 %y1, %n
  br i1 %d, label %a, label %done
done:
  %out = phi i32 [ %y1, %b ]
  store i32 %out, ptr addrspace(1) %p
  ret void
}
