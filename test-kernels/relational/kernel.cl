// golden: numpy comparisons
#define BIT(test, at) (-(test) << at)
__kernel void compare(__global const float4 *x, __global const float4 *y, __global const uint4 *m, __global int4 *masks, __global int *flags,
                      __global float4 *chosen, __global uint4 *bits) {
  int i = get_global_id(0);
  float4 a = x[i], b = y[i];
  masks[i] = BIT(isnan(a), 0) | BIT(isinf(a), 1) | BIT(isfinite(a), 2) | BIT(signbit(a), 3) | BIT(isequal(a, b), 4) | BIT(isnotequal(a, b), 5) |
             BIT(isless(a, b), 6) | BIT(islessequal(a, b), 7) | BIT(isgreater(a, b), 8) | BIT(isgreaterequal(a, b), 9) | BIT(islessgreater(a, b), 10) |
             BIT(isordered(a, b), 11) | BIT(isunordered(a, b), 12) | BIT(isnormal(a), 13);
  flags[i] = any(a < b) | all(a <= b) << 1;
  chosen[i] = select(b, a, a < b);
  bits[i] = as_uint4(bitselect(a, b, as_float4(m[i])));
}
