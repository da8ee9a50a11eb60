target triple = "nvptx64--"
declare <4 x float> @llvm.matrix.multiply.v4f32.v4f32.v4f32(<4 x float>, <4 x float>, i32, i32, i32)
define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %q0 = getelementptr i8, ptr addrspace(1) %in, i64 64
  %v0 = load <4 x float>, ptr addrspace(1) %q0
  %q1 = getelementptr i8, ptr addrspace(1) %in, i64 128
  %v1 = load <4 x float>, ptr addrspace(1) %q1
  %r = call <4 x float> @llvm.matrix.multiply.v4f32.v4f32.v4f32(<4 x float> %v0, <4 x float> %v1, i32 2, i32 2, i32 2)
  store <4 x float> %r, ptr addrspace(1) %out
  ret void
}
