// cl_khr_fp16 for images: texels as halves, by way of single precision, which every format is converted through.

#define READ_SAMPLED(IMAGE, C, F) \
  OVERLOAD half4 read_imageh(read_only IMAGE image, sampler_t sampler, C at) { \
    return __builtin_convertvector(read_imagef(image, sampler, at), half4); \
  } \
  OVERLOAD half4 read_imageh(read_only IMAGE image, sampler_t sampler, F at) { \
    return __builtin_convertvector(read_imagef(image, sampler, at), half4); \
  }
#define READ(ACCESS, IMAGE, C) \
  OVERLOAD half4 read_imageh(ACCESS IMAGE image, C at) { return __builtin_convertvector(read_imagef(image, at), half4); }
#define WRITE(ACCESS, IMAGE, C) \
  OVERLOAD void write_imageh(ACCESS IMAGE image, C at, half4 texel) { \
    write_imagef(image, at, __builtin_convertvector(texel, float4)); \
  }
#define UNSAMPLED(IMAGE, C) \
  READ(read_only, IMAGE, C) READ(read_write, IMAGE, C) WRITE(write_only, IMAGE, C) WRITE(read_write, IMAGE, C)
#define HALF_IMAGE(IMAGE, C, F) READ_SAMPLED(IMAGE, C, F) UNSAMPLED(IMAGE, C)
HALF_IMAGE(image1d_t, int, float) HALF_IMAGE(image1d_array_t, int2, float2)
HALF_IMAGE(image2d_t, int2, float2) HALF_IMAGE(image2d_array_t, int4, float4)
HALF_IMAGE(image3d_t, int4, float4)
UNSAMPLED(image1d_buffer_t, int)
