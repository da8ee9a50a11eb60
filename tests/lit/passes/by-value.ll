; A structure that a kernel takes by value and changes becomes a variable, whose fields are values then; one that is only read stays
; an argument. What a number indexes stays in memory.
; RUN: %heddle opt --passes=by-value %s | FileCheck %s
; RUN: %heddle build %s --emit ir -o - | FileCheck %s --check-prefix=VALUES
; RUN: %heddle run %s --kernel changed --global 4 --local 4 --arg i32=3,40 --arg b=zeros:int32:4,save=%t.npy --check=all --verify
; RUN: od -An -v -w16 -td4 -j128 %t.npy | FileCheck %s --check-prefix=RESULT
target triple = "nvptx64--"
%pair = type { i32, i32 }
%row = type { [4 x i32] }

; CHECK: define spir_kernel void @changed(ptr noalias readonly byval(%pair) align 4 %p, ptr addrspace(1) %b)
; CHECK: [[V:%[0-9]+]] = alloca %pair, align 4
; CHECK: call void @llvm.memcpy.{{.*}}(ptr align 4 [[V]], ptr align 4 %p, i64 8, i1 false)
; CHECK: store i32 %next, ptr [[V]]
; VALUES-LABEL: @changed(
; VALUES-NOT: alloca
; VALUES-NOT: store i32 {{.*}}, ptr %
; VALUES: ret void
; RESULT: 40 43 46 49
define spir_kernel void @changed(ptr byval(%pair) align 4 %p, ptr addrspace(1) %b) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  %n = trunc i64 %i to i32
  br label %test
test:
  %k = phi i32 [ 0, %entry ], [ %k1, %body ]
  %more = icmp ult i32 %k, %n
  br i1 %more, label %body, label %end
body:
  %field = getelementptr %pair, ptr %p, i32 0, i32 1
  %y = load i32, ptr %field
  %x = load i32, ptr %p
  %y1 = add i32 %y, %x
  store i32 %y1, ptr %field
  %next = add i32 %x, 0
  store i32 %next, ptr %p
  %k1 = add i32 %k, 1
  br label %test
end:
  %field2 = getelementptr %pair, ptr %p, i32 0, i32 1
  %result = load i32, ptr %field2
  %to = getelementptr i32, ptr addrspace(1) %b, i64 %i
  store i32 %result, ptr addrspace(1) %to
  ret void
}

; CHECK: define spir_kernel void @read(ptr byval(%pair) align 4 %p
; CHECK-NOT: alloca
; CHECK: ret void
define spir_kernel void @read(ptr byval(%pair) align 4 %p, ptr addrspace(1) %b) {
  %x = load i32, ptr %p
  store i32 %x, ptr addrspace(1) %b
  ret void
}

; VALUES-LABEL: @indexed(
; VALUES: alloca %row
; VALUES: ret void
define spir_kernel void @indexed(ptr byval(%row) align 4 %p, ptr addrspace(1) %b, i32 %n, i32 %m) {
  %at = getelementptr %row, ptr %p, i32 0, i32 0, i32 %n
  store i32 7, ptr %at
  %from = getelementptr %row, ptr %p, i32 0, i32 0, i32 %m
  %x = load i32, ptr %from
  store i32 %x, ptr addrspace(1) %b
  ret void
}
declare i64 @_Z13get_global_idj(i32)
