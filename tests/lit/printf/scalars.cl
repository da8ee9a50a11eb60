// Every scalar conversion prints what C's printf does (OpenCL C 3.0, 6.15.14): compared with the output of a C program, see Inputs/scalars.inc.
// RUN: %heddle run -q %s --kernel k --global 1 --option=-I%S/Inputs --mode functional > %t.out
// RUN: diff %S/Inputs/scalars.expected %t.out
// RUN: %heddle run -q %s --kernel k --global 1 --option=-I%S/Inputs --option=-O0 --mode timing > %t.out
// RUN: diff %S/Inputs/scalars.expected %t.out
// RUN: %heddle run -q %s --kernel k --global 1 --option=-I%S/Inputs --mode functional --check > %t.out
// RUN: diff %S/Inputs/scalars.expected %t.out
#define P(...) printf(__VA_ARGS__)
__kernel void k(void) {
#include "scalars.inc"
}
