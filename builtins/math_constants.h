// Constants that device code of CUDA takes from a header of this name.
#pragma once

#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_MIN_DENORM_F __int_as_float(1)
#define CUDART_PI_F 3.14159265358979f
#define CUDART_PIO2_F 1.57079632679490f
#define CUDART_PIO4_F 0.785398163397448f
#define CUDART_SQRT_TWO_F 1.41421356237310f
#define CUDART_LN2_F 0.693147180559945f
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN __longlong_as_double(0x7fffffffffffffffll)
#define CUDART_PI 3.14159265358979323846
#define CUDART_PIO2 1.57079632679489661923
#define CUDART_SQRT_TWO 1.41421356237309504880
#define CUDART_LN2 0.69314718055994530942
