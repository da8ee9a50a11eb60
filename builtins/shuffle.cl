// shuffle and shuffle2: libclc's branch on each element's number, which diverges; elements that are chosen by number are selects. Only as many bits of a
// number count as there are elements to choose from.

#define BY_NUMBER(T, U, M, N) \
  OVERLOAD T##N shuffle(T##M x, U##N mask) { \
    T##N r; \
    _Pragma("unroll") for (int i = 0; i < N; i++) r[i] = x[(uint)mask[i] & (M - 1)]; \
    return r; \
  } \
  OVERLOAD T##N shuffle2(T##M x, T##M y, U##N mask) { \
    T##N r; \
    _Pragma("unroll") for (int i = 0; i < N; i++) { \
      uint k = (uint)mask[i]; \
      T a = x[k & (M - 1)], b = y[k & (M - 1)]; \
      r[i] = k & M ? b : a; \
    } \
    return r; \
  }
#define BY_NUMBER_FROM(T, U, M) BY_NUMBER(T, U, M, 2) BY_NUMBER(T, U, M, 4) BY_NUMBER(T, U, M, 8) BY_NUMBER(T, U, M, 16)
#define BY_NUMBER_ALL(T, U) BY_NUMBER_FROM(T, U, 2) BY_NUMBER_FROM(T, U, 4) BY_NUMBER_FROM(T, U, 8) BY_NUMBER_FROM(T, U, 16)
BY_NUMBER_ALL(char, uchar) BY_NUMBER_ALL(uchar, uchar) BY_NUMBER_ALL(short, ushort) BY_NUMBER_ALL(ushort, ushort)
BY_NUMBER_ALL(int, uint) BY_NUMBER_ALL(uint, uint) BY_NUMBER_ALL(long, ulong) BY_NUMBER_ALL(ulong, ulong)
BY_NUMBER_ALL(float, uint) BY_NUMBER_ALL(double, ulong)
