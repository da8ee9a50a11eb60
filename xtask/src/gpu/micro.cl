// Micro-kernels: what a machine's description can be fitted to. Each is launched twice, the second time with twice
// the steps, so that what a launch costs falls out.

// Dependent loads: element i of the ring holds the index of the next. One work-item.
__kernel void chase(__global uint *ring, __global uint *out, uint steps) {
    uint p = get_global_id(0);
#define S p = ring[p];
#define S8 S S S S S S S S
    for (uint i = 0; i < steps; i += 32) {
        S8 S8 S8 S8
    }
    out[get_global_id(0)] = p;
}

// Dependent operations in one warp, or as many as are launched.
#define CHAIN(name, type, operation) \
    __kernel void name(__global type *out, type a, type b, uint steps) { \
        type x = a + (type)get_local_id(0); \
        for (uint i = 0; i < steps; i += 32) { \
            _Pragma("unroll") for (int j = 0; j < 32; j++) operation; \
        } \
        out[get_global_id(0)] = x; \
    }
CHAIN(chain_i32_add, uint, x = (x ^ a) + b)
CHAIN(chain_i32_mul, uint, x = x * a + b)
CHAIN(chain_f32_fma, float, x = fma(x, a, b))
CHAIN(chain_f64_fma, double, x = fma(x, a, b))
CHAIN(chain_f32_divide, float, x = a / x)

// Reads and writes of device memory, each work-item some elements.
__kernel void triad(__global float *a, __global const float *b, __global const float *c, float s, uint n) {
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = b[i] + s * c[i];
}

// Dependent loads from work-group memory in one warp, lanes `stride` words apart: conflicts of so many ways.
__kernel void local_chase(__global uint *out, uint stride, uint steps) {
    __local uint words[1024];
    uint p = get_local_id(0) * stride % 1024;
    for (uint i = get_local_id(0); i < 1024; i += get_local_size(0)) words[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < steps; i += 16) {
        _Pragma("unroll") for (int j = 0; j < 16; j++) p = words[p];
    }
    out[get_local_id(0)] = p;
}

// Nothing.
__kernel void nothing(__global uint *out) {
    if (out == 0) out[0] = 1;
}
