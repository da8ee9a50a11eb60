// pow and pown of exponents that the compiler knows: products, a reciprocal before, or a square root, where these are as accurate as
// is asked for (16 ulp; an eighth power by products is off by 4). `libclc_…` are libclc's own functions under the names that build.rs
// gives them; `__heddle_pow` is in math.cl. This file is compiled by itself, without LLVM's pipeline, which would answer `__builtin_constant_p` before it is known.
// (AMDGPU's back end does the same: AMDGPULibCalls.cpp, fold_pow.)

#define OVERLOAD __attribute__((overloadable))
#define INLINE static __attribute__((overloadable, always_inline))

// x^n for LEAST <= n <= MOST. Products of what is small underflow no sooner than the power does, nor do those of what is large overflow.
#define LEAST -4
#define MOST 8
#define PRODUCTS(T) \
  INLINE T products(T x, int n) { \
    T base = n < 0 ? 1 / x : x, square = base * base, fourth = square * square; \
    switch (n < 0 ? -n : n) { \
    case 0: return 1; \
    case 1: return base; \
    case 2: return square; \
    case 3: return square * base; \
    case 4: return fourth; \
    case 5: return fourth * base; \
    case 6: return fourth * square; \
    case 7: return fourth * square * base; \
    default: return fourth * fourth; \
    } \
  }
PRODUCTS(float)
PRODUCTS(double)

// Of 1/2 and -1/2. The power of -0 is that of 0, and that of -infinity is that of infinity.
#define ROOTS(T, ROOT) \
  INLINE T root(T x) { return x == -INFINITY ? INFINITY : ROOT(x + 0); } \
  INLINE T reciprocal_root(T x) { return x == -INFINITY ? 0 : 1 / ROOT(x + 0); }
ROOTS(float, __builtin_sqrtf)
ROOTS(double, __builtin_sqrt)

#define POWER(T, LETTER, OTHERWISE) \
  T OTHERWISE(T x, T y); \
  T libclc_pown_##LETTER(T x, int n); \
  OVERLOAD T pow(T x, T y) { \
    if (__builtin_constant_p(y)) { \
      if (y >= LEAST && y <= MOST && y == (T)(int)y) return products(x, (int)y); \
      if (y == (T)0.5) return root(x); \
      if (y == (T)-0.5) return reciprocal_root(x); \
    } \
    return OTHERWISE(x, y); \
  } \
  OVERLOAD T pown(T x, int n) { \
    if (__builtin_constant_p(n) && n >= LEAST && n <= MOST) return products(x, n); \
    return libclc_pown_##LETTER(x, n); \
  }
POWER(float, f, __heddle_pow)
POWER(double, d, libclc_pow_d)

#define EACH(NAME, T, Y) \
  OVERLOAD T##2 NAME(T##2 x, Y##2 y) { return (T##2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); } \
  OVERLOAD T##3 NAME(T##3 x, Y##3 y) { return (T##3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); } \
  OVERLOAD T##4 NAME(T##4 x, Y##4 y) { return (T##4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  OVERLOAD T##8 NAME(T##8 x, Y##8 y) { return (T##8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  OVERLOAD T##16 NAME(T##16 x, Y##16 y) { return (T##16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
EACH(pow, float, float)
EACH(pow, double, double)
EACH(pown, float, int)
EACH(pown, double, int)
