// cl_khr_extended_bit_ops, and cl_khr_integer_dot_product with inputs of four bytes. Included by heddle.cl.

// Fields that reach beyond a value's bits are undefined. Shifts take their count modulo the value's bits, so a field of none and
// one of all bits have their own cases.
#define BIT_FIELDS(S, U, BITS, REVERSE) \
  OVERLOAD U bitfield_insert(U base, U insert, uint offset, uint count) { \
    U field = count == 0 ? (U)0 : (U)((U)-1 >> (U)(BITS - count)); \
    return (U)((base & ~(U)(field << (U)offset)) | ((insert & field) << (U)offset)); \
  } \
  OVERLOAD S bitfield_insert(S base, S insert, uint offset, uint count) { \
    return as_##S(bitfield_insert(as_##U(base), as_##U(insert), offset, count)); \
  } \
  OVERLOAD U bitfield_extract_unsigned(U base, uint offset, uint count) { \
    return count == 0 ? (U)0 : (U)((U)(base >> (U)offset) & (U)((U)-1 >> (U)(BITS - count))); \
  } \
  OVERLOAD U bitfield_extract_unsigned(S base, uint offset, uint count) { \
    return bitfield_extract_unsigned(as_##U(base), offset, count); \
  } \
  OVERLOAD S bitfield_extract_signed(S base, uint offset, uint count) { \
    return count == 0 ? (S)0 : (S)((S)(base << (S)(BITS - offset - count)) >> (S)(BITS - count)); \
  } \
  OVERLOAD S bitfield_extract_signed(U base, uint offset, uint count) { \
    return bitfield_extract_signed(as_##S(base), offset, count); \
  } \
  OVERLOAD U bit_reverse(U base) { return REVERSE(base); } \
  OVERLOAD S bit_reverse(S base) { return as_##S(REVERSE(as_##U(base))); }
// The function of elements makes an int of what is shorter and no vector.
#define VECTORS_OF_BIT_FIELDS(S, U, BITS, N) BIT_FIELDS(S##N, U##N, BITS, __builtin_elementwise_bitreverse)
#define BIT_FIELDS_OF_WIDTHS(S, U, BITS) \
  BIT_FIELDS(S, U, BITS, __builtin_bitreverse##BITS) VECTORS_OF_BIT_FIELDS(S, U, BITS, 2) VECTORS_OF_BIT_FIELDS(S, U, BITS, 3) \
  VECTORS_OF_BIT_FIELDS(S, U, BITS, 4) VECTORS_OF_BIT_FIELDS(S, U, BITS, 8) VECTORS_OF_BIT_FIELDS(S, U, BITS, 16)
BIT_FIELDS_OF_WIDTHS(char, uchar, 8)
BIT_FIELDS_OF_WIDTHS(short, ushort, 16)
BIT_FIELDS_OF_WIDTHS(int, uint, 32)
BIT_FIELDS_OF_WIDTHS(long, ulong, 64)

#define DOT_PRODUCT(R, A, B, NAME) \
  OVERLOAD R dot(A##4 a, B##4 b) { \
    return (R)a.s0 * (R)b.s0 + (R)a.s1 * (R)b.s1 + (R)a.s2 * (R)b.s2 + (R)a.s3 * (R)b.s3; \
  } \
  OVERLOAD R dot_acc_sat(A##4 a, B##4 b, R sum) { return add_sat(dot(a, b), sum); } \
  OVERLOAD R dot_4x8packed_##NAME##_##R(uint a, uint b) { return dot(as_##A##4(a), as_##B##4(b)); } \
  OVERLOAD R dot_acc_sat_4x8packed_##NAME##_##R(uint a, uint b, R sum) { return dot_acc_sat(as_##A##4(a), as_##B##4(b), sum); }
DOT_PRODUCT(uint, uchar, uchar, uu)
DOT_PRODUCT(int, char, char, ss)
DOT_PRODUCT(int, uchar, char, us)
DOT_PRODUCT(int, char, uchar, su)
