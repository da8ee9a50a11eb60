; S3: a switch on a varying value separates lanes into as many groups as it has targets; phis where any two meet vary, also at joins before
; the last one.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: uniformity of 'switch':
; CHECK: divergent branch: switch
; CHECK: varying (join of the divergent branch in entry): %ab = phi
; CHECK: conditionally uniform: %d = add i32 %n, 4
; CHECK: varying (join of the divergent branch in entry): %all = phi
define spir_kernel void @switch(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  switch i32 %t, label %other [ i32 0, label %a
                                i32 1, label %b ]
a:
  br label %ab.join
b:
  br label %ab.join
ab.join:
  %ab = phi i32 [ 1, %a ], [ 2, %b ]
  br label %end
other:
  %d = add i32 %n, 4
  br label %end
end:
  %all = phi i32 [ %ab, %ab.join ], [ %d, %other ]
  store i32 %all, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: uniformity of 'uniform_switch':
; CHECK: uniform branch: switch
; CHECK: uniform: %v = phi
define spir_kernel void @uniform_switch(i32 %n, ptr addrspace(1) %p) {
entry:
  switch i32 %n, label %end [ i32 0, label %a
                              i32 1, label %b ]
a:
  br label %end
b:
  br label %end
end:
  %v = phi i32 [ 1, %a ], [ 2, %b ], [ 3, %entry ]
  store i32 %v, ptr addrspace(1) %p
  ret void
}
