// What hosts ask of a kernel and its arguments is in the metadata, and survives the text of machine IR and assembly.
// RUN: %heddle build --stop-after select %s -o %t.mir && FileCheck %s --check-prefix=MIR --input-file=%t.mir
// RUN: %heddle build %t.mir --emit asm -o %t.s && FileCheck %s --check-prefix=ASM --input-file=%t.s
// RUN: %heddle as %t.s -o %t.o && %heddle objdump %t.o | diff - %t.s
// RUN: %heddle build %s -o %t.2.o && %heddle objdump %t.2.o | diff - %t.s

// MIR: kernel @k stage ssa {{.*}} required 8 1 1 vector "float4"
// MIR: arg global "out" "float4*" {{.*}} restrict{{.*}} qualifiers restrict
// MIR: arg constant "c" "uint*" {{.*}} qualifiers const
// MIR: arg image "in" "image2d_t" {{.*}} access read_only
// MIR: arg image "im" "image2d_t" {{.*}} access write_only
// MIR: arg value "n" "ulong" offset {{[0-9]+}} size 8 align 8{{$}}
// MIR: kernel @l stage ssa {{.*}} hint 16 2 1 vector "uchar16" sub-group 32
// MIR: arg global "v" "int*" {{.*}} qualifiers const volatile

// ASM: {"name":"c","type_name":"uint*","kind":"constant",{{[^}]*}},"qualifiers":{"const":true}}
// ASM: {"name":"im","type_name":"image2d_t","kind":"image",{{[^}]*}},"access":"write_only"}
// ASM: "required_work_group":[8,1,1],"vector_hint":"float4"
// ASM: "work_group_hint":[16,2,1],"vector_hint":"uchar16","required_sub_group":32
typedef image2d_t picture;
__attribute__((reqd_work_group_size(8, 1, 1), vec_type_hint(float4)))
__kernel void k(__global float4 *restrict out, __constant unsigned int *c, read_only picture in, write_only image2d_t im,
                unsigned long n) {
  out[n] = c[n];
}
__attribute__((work_group_size_hint(16, 2, 1), vec_type_hint(uchar16), intel_reqd_sub_group_size(32)))
__kernel void l(__global const volatile int *v, __global int *o) {
  *o = *v;
}
