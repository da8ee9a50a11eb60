// The device's version and its images are known to the preprocessor in every language version; the target that clang borrows is not. What the user defines is no second definition.
// RUN: %heddle build %s -Werror -o %t.o
// RUN: %heddle build %s -Werror -cl-std=CL1.2 -o %t.o
// RUN: %heddle build %s -Werror -cl-std=CL1.0 -o %t.o
// RUN: %heddle build -E %s -o - | FileCheck %s --check-prefix=TEXT
// RUN: %heddle build %s -Werror -DMINE -D__OPENCL_VERSION__=120 -D __IMAGE_SUPPORT__=2 -D__NVPTX__=3 -o %t.o
// Standard options that have no meaning here raise no warning.
// RUN: %heddle build %s -Werror -cl-denorms-are-zero -cl-strict-aliasing -cl-no-subgroup-ifp -o %t.o 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET
// QUIET-NOT: {{.}}
#ifdef MINE
#if __OPENCL_VERSION__ != 120 || __IMAGE_SUPPORT__ != 2 || __NVPTX__ != 3
#error the user's definitions
#endif
#elif __OPENCL_VERSION__ != 300 || __IMAGE_SUPPORT__ != 1 || defined(__NVPTX__) || defined(__PTX__)
#error the device's definitions
#endif
// TEXT: *o = 300
__kernel void version(__global int *o) { *o = __OPENCL_VERSION__; }
