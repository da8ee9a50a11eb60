// Vectors: components with commas between, each formatted as the conversion says; all element types and lengths.
// RUN: %heddle run -q %s --kernel k --global 1 --mode functional | FileCheck %s --match-full-lines --strict-whitespace
// RUN: %heddle run -q %s --kernel k --global 1 --option=-O0 --mode timing | FileCheck %s --match-full-lines --strict-whitespace
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void k(void) {
  volatile int one = 1;
  int i = one;
//      CHECK:char -1,2,-3,127 uchar 255,2,3 uchar2 ff,0
  printf("char %v4hhd uchar %v3hhu uchar2 %v2hhx\n", (char4)(-i, 2, -3, 127), (uchar3)(255, 2 * i, 3), (uchar2)(255 * i, 0));
// CHECK-NEXT:short -1,2,3,4,5,6,7,-32768 ushort 65535,1
  printf("short %v8hd ushort %v2hu\n", (short8)(-i, 2, 3, 4, 5, 6, 7, -32768), (ushort2)(65535, i));
// CHECK-NEXT:int [    1,   -2,    3] [00001,-0002] [+1,+2,+3,+4]
  printf("int [%5v3hld] [%05v2hld] [%+v4hld]\n", (int3)(i, -2, 3), (int2)(i, -2), (int4)(i, 2, 3, 4));
// CHECK-NEXT:uint 1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,ffffffff #0xff,0x10
  printf("uint %v16hlx #%#v2hlx\n", (uint16)(i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1), (uint2)(255, 16 * i));
// CHECK-NEXT:long -5000000000,1 ulong 18446744073709551615,1,2
  printf("long %v2ld ulong %v3lu\n", (long2)(-5000000000L, i), (ulong3)(-i, 1, 2));
// CHECK-NEXT:float 1.000000,-0.500000,inf,nan [   1.00,   2.50] 1.000000e+00,1.000000e-05 0x1p+0,0x1p-1
  printf("float %v4hlf [%7.2v2hlf] %v2hle %v2hla\n", (float4)(i, -0.5f, INFINITY, NAN), (float2)(i, 2.5f), (float2)(i, 1e-5f), (float2)(i, 0.5f));
// CHECK-NEXT:double 0.1,1e+100 0x1.999999999999ap-4,0x0p+0
  printf("double %v2lg %v2la\n", (double2)(0.1 * i, 1e100), (double2)(0.1 * i, 0));
// CHECK-NEXT:half 1.5,-2,65504,0 0.333252
  half4 h = (half4)(1.5h * i, -2.0h, 65504.0h, 0.0h);
  printf("half %v4hg %g\n", h, (double)((half)i / 3.0h));
// CHECK-NEXT:mixed 7 1,2 x 3.5 9
  printf("mixed %d %v2hld %c %g %ld\n", 7 * i, (int2)(i, 2), 'x', 3.5 * i, 9L * i);
// No length is taken for 32 bits.
// CHECK-NEXT:plain 1,2
  printf("plain %v2d\n", (int2)(i, 2));
}
