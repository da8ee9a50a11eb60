; Ids are words: where both sides of a comparison of 64 bits are extended by zeros, the words are compared, unsigned.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s

declare i64 @_Z13get_global_idj(i32)

; CHECK: .kernel {"name":"k"
; CHECK-NOT: 64
; CHECK-DAG: cmp.lt.u32 {{p[0-9]}}, gid.x, c[0x10]
; CHECK-DAG: cmp.ne.b32 {{p[0-9]}}, gid.y, 5
; CHECK: exit
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  %x = call i64 @_Z13get_global_idj(i32 0)
  %y = call i64 @_Z13get_global_idj(i32 1)
  %wide = zext i32 %n to i64
  %inside = icmp slt i64 %x, %wide
  %other = icmp ne i64 %y, 5
  %both = and i1 %inside, %other
  br i1 %both, label %then, label %end
then:
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %x
  store i32 1, ptr addrspace(1) %at
  br label %end
end:
  ret void
}

; A side with a high word is compared whole.
; CHECK: .kernel {"name":"high"
; CHECK: cmp.{{.*}}64
define spir_kernel void @high(ptr addrspace(1) %p, i64 %n) {
entry:
  %x = call i64 @_Z13get_global_idj(i32 0)
  %inside = icmp slt i64 %x, %n
  br i1 %inside, label %then, label %end
then:
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %x
  store i32 1, ptr addrspace(1) %at
  br label %end
end:
  ret void
}

; Logic keeps high words 0.
; CHECK: .kernel {"name":"logic"
; CHECK: or.b32 [[OR:l[0-9]+]], gid.{{[xy]}}, gid.{{[xy]}}
; CHECK-NEXT: cmp.lt.u32 {{p[0-9]}}, [[OR]], 2
define spir_kernel void @logic(ptr addrspace(1) %p, i64 %n) {
entry:
  %x = call i64 @_Z13get_global_idj(i32 0)
  %y = call i64 @_Z13get_global_idj(i32 1)
  %or = or i64 %x, %y
  %inside = icmp ult i64 %or, 2
  br i1 %inside, label %then, label %end
then:
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %x
  store i32 1, ptr addrspace(1) %at
  br label %end
end:
  ret void
}
