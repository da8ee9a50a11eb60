// Code for debuggers and for checks reads what the program reads: a debugger shows all of a texel, a check looks at all of a vector.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefix=TRIM
// RUN: %heddle build -O0 %s --emit asm -o - | FileCheck %s --check-prefix=WHOLE
// TRIM: sample.f32 {{[lm][0-9]+}}, _, {{.*}}, 38656
// WHOLE: sample.f32 {{[lm]}}[{{[0-9:]+}}], _, {{.*}}, 5888
__kernel void k(read_only image2d_t in, __global float *out) {
  int i = get_global_id(0);
  float4 texel = read_imagef(in, (int2)(i, 1));
  out[i] = texel.z;
}
