// The same kernel in CUDA, HIP and OpenCL C gives the same machine code.
// RUN: cp %s %t.hip
// RUN: %heddle build %s --emit asm -o - | sed -n 's/^  \([a-z].*\) !.*/\1/p' > %t.1
// RUN: %heddle build %t.hip --emit asm -o - | sed -n 's/^  \([a-z].*\) !.*/\1/p' > %t.2
// RUN: %heddle build %S/Inputs/same.cl --emit asm -o - | sed -n 's/^  \([a-z].*\) !.*/\1/p' > %t.3
// RUN: diff %t.1 %t.2
// RUN: diff %t.1 %t.3
// RUN: FileCheck %s < %t.1
// CHECK: ld.global
// CHECK: fma
// CHECK: st.global
extern "C" __global__ void saxpy(float *y, const float *x, float a)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
