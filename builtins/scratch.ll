; Work-group memory of the work-group functions in heddle.cl: OpenCL C has no static local variables outside kernels. Eight bytes for each work-item of the
; largest work-group that any machine description allows.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-unknown-unknown"

@heddle.group.scratch = internal addrspace(3) global [1024 x i64] undef, align 16

define ptr addrspace(3) @__heddle_group_scratch() alwaysinline nounwind {
  ret ptr addrspace(3) @heddle.group.scratch
}
